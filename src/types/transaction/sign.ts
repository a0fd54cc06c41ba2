import { sign } from "../../crypto/secp256k1.ts";
import type { TransactionFields } from "./codec.ts";
import { buildTransaction } from "./encode.ts";
import { legacyV } from "./legacy.ts";
import { authorizationHash, signingHash } from "./signing-hash.ts";
import type { Authorization, Transaction } from "./transaction.ts";

/**
 * `fields` signed by `privateKey`; a legacy transaction is replay-protected when it has a chain id (EIP-155).
 * @throws InvalidPrivateKeyError
 */
export function signTransaction(fields: TransactionFields, privateKey: Uint8Array): Transaction {
  const { r, s, yParity } = sign(signingHash(fields), privateKey);
  const v = fields.type === 0 ? legacyV(fields.chainId, yParity) : BigInt(yParity);
  return buildTransaction(fields, { v, r, s });
}

/**
 * An EIP-7702 authorization of `privateKey`'s account.
 * @throws InvalidPrivateKeyError
 */
export function signAuthorization(
  fields: Pick<Authorization, "chainId" | "address" | "nonce">,
  privateKey: Uint8Array,
): Authorization {
  const { r, s, yParity } = sign(authorizationHash(fields), privateKey);
  return { ...fields, yParity: BigInt(yParity), r, s };
}
