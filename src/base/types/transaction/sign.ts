import { sign } from "../../crypto/secp256k1.ts";
import { addressToBytes } from "../../primitives/address.ts";
import { bigintToBytes, concatBytes, EMPTY_BYTES } from "../../primitives/bytes.ts";
import { keccak256 } from "../../primitives/keccak.ts";
import { encodeRlp, encodeTypedRlp } from "../../primitives/rlp.ts";
import type { TransactionFields } from "./codec.ts";
import { buildTransaction, fieldItems } from "./encode.ts";
import { legacyV } from "./legacy.ts";
import type { Authorization, Transaction } from "./transaction.ts";

/**
 * `fields` signed with `privateKey`; a legacy transaction with a chain id is replay-protected (EIP-155).
 * @throws InvalidPrivateKeyError
 */
export function signTransaction(fields: TransactionFields, privateKey: Uint8Array): Transaction {
  const { r, s, yParity } = sign(signingHash(fields), privateKey);
  const v = fields.type === 0 ? legacyV(fields.chainId, yParity) : BigInt(yParity);
  return buildTransaction(fields, { v, r, s });
}

/**
 * An EIP-7702 authorization by `privateKey`'s account.
 * @throws InvalidPrivateKeyError
 */
export function signAuthorization(
  fields: Pick<Authorization, "chainId" | "address" | "nonce">,
  privateKey: Uint8Array,
): Authorization {
  const { r, s, yParity } = sign(authorizationHash(fields), privateKey);
  return { ...fields, yParity: BigInt(yParity), r, s };
}

/** EIP-7702: first byte of the message that an authority signs. */
const AUTHORIZATION_MAGIC = 0x05;

/**
 * The 32 bytes that a sender signs: keccak256 of the fields without signature. A legacy transaction with a chain id adds `chainId, 0, 0`
 * (EIP-155).
 */
export function signingHash(fields: TransactionFields): Uint8Array {
  const items = fieldItems(fields);
  if (fields.type === 0 && fields.chainId !== undefined) {
    items.push(bigintToBytes(fields.chainId), EMPTY_BYTES, EMPTY_BYTES);
  }
  return keccak256(encodeTypedRlp(fields.type, items));
}

/** The 32 bytes that an authority signs: keccak256(0x05 ‖ rlp([chainId, address, nonce])), EIP-7702. */
export function authorizationHash(authorization: Pick<Authorization, "chainId" | "address" | "nonce">): Uint8Array {
  const { chainId, address, nonce } = authorization;
  const body = encodeRlp([bigintToBytes(chainId), addressToBytes(address), bigintToBytes(nonce)]);
  return keccak256(concatBytes(Uint8Array.of(AUTHORIZATION_MAGIC), body));
}
