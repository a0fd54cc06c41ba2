import { addressToBytes } from "../../primitives/address.ts";
import { bigintToBytes, concatBytes, EMPTY_BYTES } from "../../primitives/bytes.ts";
import { keccak256 } from "../../primitives/keccak.ts";
import { encodeRlp } from "../../primitives/rlp.ts";
import type { TransactionFields } from "./codec.ts";
import { encodeEnvelope, fieldItems } from "./encode.ts";
import type { Authorization } from "./transaction.ts";

/** EIP-7702: what an authority signs begins with this byte. */
const AUTHORIZATION_MAGIC = 0x05;

/**
 * The 32 bytes a sender signs: keccak256 of the fields without signature. A legacy transaction with a chain id adds
 * `chainId, 0, 0` (EIP-155).
 */
export function signingHash(fields: TransactionFields): Uint8Array {
  const items = fieldItems(fields);
  if (fields.type === 0 && fields.chainId !== undefined) {
    items.push(bigintToBytes(fields.chainId), EMPTY_BYTES, EMPTY_BYTES);
  }
  return keccak256(encodeEnvelope(fields.type, items));
}

/** The 32 bytes an authority signs: keccak256(0x05 ‖ rlp([chainId, address, nonce])), EIP-7702. */
export function authorizationHash(
  authorization: Pick<Authorization, "chainId" | "address" | "nonce">,
): Uint8Array {
  const { chainId, address, nonce } = authorization;
  const body = encodeRlp([bigintToBytes(chainId), addressToBytes(address), bigintToBytes(nonce)]);
  return keccak256(concatBytes(Uint8Array.of(AUTHORIZATION_MAGIC), body));
}
