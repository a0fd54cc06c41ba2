import type { AccountSigner } from "../../keystore/account-signer.ts";
import type { Address } from "../../primitives/address.ts";
import type { TransactionFields } from "../../types/transaction/codec.ts";
import { buildTransaction } from "../../types/transaction/encode.ts";
import { legacyV } from "../../types/transaction/legacy.ts";
import { signingHash } from "../../types/transaction/signing-hash.ts";
import type { Transaction } from "../../types/transaction/transaction.ts";

/**
 * The transaction signed by an account the node holds.
 * @throws UnknownAccountError, AccountLockedError
 */
export function signFields(
  fields: TransactionFields,
  from: Address,
  signer: AccountSigner,
): Transaction {
  const { r, s, yParity } = signer.sign(from, signingHash(fields));
  const v = fields.type === 0 ? legacyV(fields.chainId, yParity) : BigInt(yParity);
  return buildTransaction(fields, { v, r, s });
}
