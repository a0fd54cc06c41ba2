import { publicKeyFromPrivate, sign } from "../../base/crypto/secp256k1.ts";
import { bigintToFixedBytes, concatBytes } from "../../base/primitives/bytes.ts";
import { hexDigits } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { encodeRlp, type RlpItem } from "../../base/primitives/rlp.ts";

/** The identity of an Ethereum node, derived from its secp256k1 key. */
export type NodeIdentity = {
  /** keccak256 of the public key, 64 hex digits without prefix */
  readonly id: string;
  readonly enode: string;
  /** EIP-778 */
  readonly enr: string;
};

/** The identity of a node that accepts no connections: port 0, as geth shows a node without network. */
export function nodeIdentity(privateKey: Uint8Array): NodeIdentity {
  const publicKey = publicKeyFromPrivate(privateKey);
  return {
    id: hexDigits(keccak256(publicKey)),
    enode: `enode://${hexDigits(publicKey)}@127.0.0.1:0`,
    enr: nodeRecord(privateKey, publicKey),
  };
}

/** A node record under the identity scheme "v4": signature ‖ seq ‖ sorted pairs, as RLP in base64url. */
function nodeRecord(privateKey: Uint8Array, publicKey: Uint8Array): string {
  const compressed = concatBytes(Uint8Array.of(2 + (publicKey[63]! & 1)), publicKey.subarray(0, 32));
  const content: RlpItem[] = [
    Uint8Array.of(1),
    text("id"),
    text("v4"),
    text("ip"),
    Uint8Array.of(127, 0, 0, 1),
    text("secp256k1"),
    compressed,
  ];
  const { r, s } = sign(keccak256(encodeRlp(content)), privateKey);
  const signature = concatBytes(bigintToFixedBytes(r, 32), bigintToFixedBytes(s, 32));
  return `enr:${Buffer.from(encodeRlp([signature, ...content])).toString("base64url")}`;
}

function text(value: string): Uint8Array {
  return Buffer.from(value);
}
