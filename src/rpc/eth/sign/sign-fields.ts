import type { Signature } from "../../../crypto/secp256k1.ts";
import type { TransactionFields } from "../../../types/transaction/codec.ts";
import { buildTransaction } from "../../../types/transaction/encode.ts";
import { legacyV } from "../../../types/transaction/legacy.ts";
import { signingHash } from "../../../types/transaction/sign.ts";
import type { Transaction } from "../../../types/transaction/transaction.ts";
import type { KeysPort } from "../../ports/keys.ts";

/** What methods ask for that sign with an unlocked account. */
export type SignerModules = {
  readonly keys: Pick<KeysPort, "assertKnown" | "sign" | "signTransaction">;
};

/** Signs 32 bytes with an account that is settled, and may say no. */
export type SignDigest = (digest: Uint8Array) => Signature | Promise<Signature>;

/** The transaction with a signature. @throws what `sign` throws */
export async function signFields(
  fields: TransactionFields,
  sign: SignDigest,
): Promise<Transaction> {
  const { r, s, yParity } = await sign(signingHash(fields));
  const v = fields.type === 0 ? legacyV(fields.chainId, yParity) : BigInt(yParity);
  return buildTransaction(fields, { v, r, s });
}
