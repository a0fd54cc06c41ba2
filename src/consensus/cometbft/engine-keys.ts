import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { compressPublicKey } from "../../crypto/compressed-public-key.ts";
import { addressFromPublicKey, secp256k1 } from "../../crypto/secp256k1.ts";
import { type Address, addressToBytes } from "../../primitives/address.ts";
import { concatBytes } from "../../primitives/bytes.ts";

/** DER head of an ed25519 private key (RFC 8410) before its 32 bytes of seed. */
const ED25519_PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
/** Bytes of an ed25519 public key's DER form before the key. */
const ED25519_SPKI_HEAD_BYTES = 12;

/** CometBFT's `priv_validator_key.json` of a validator whose address is its Ethereum address. */
export function validatorKeyFile(privateKey: Uint8Array): object {
  const publicKey = compressedPublicKey(privateKey);
  return {
    address: Buffer.from(addressToBytes(validatorAddress(privateKey)))
      .toString("hex")
      .toUpperCase(),
    pub_key: { type: "tendermint/PubKeySecp256k1eth", value: base64(publicKey) },
    priv_key: { type: "tendermint/PrivKeySecp256k1eth", value: base64(privateKey) },
  };
}

export function validatorAddress(privateKey: Uint8Array): Address {
  return addressFromPublicKey(secp256k1.publicKeyFromPrivate(privateKey));
}

/** 33 bytes. */
export function compressedPublicKey(privateKey: Uint8Array): Uint8Array {
  return compressPublicKey(secp256k1.publicKeyFromPrivate(privateKey));
}

/** CometBFT's `node_key.json`: the ed25519 key of the peer-to-peer handshake. @param seed 32 bytes */
export function nodeKeyFile(seed: Uint8Array): object {
  const value = base64(concatBytes(seed, nodePublicKey(seed)));
  return { priv_key: { type: "tendermint/PrivKeyEd25519", value } };
}

/** Peer identity: the first 20 bytes of SHA-256 of the public key, 40 hex digits. */
export function nodeId(seed: Uint8Array): string {
  return createHash("sha256").update(nodePublicKey(seed)).digest("hex").slice(0, 40);
}

function nodePublicKey(seed: Uint8Array): Uint8Array {
  const key: KeyObject = createPrivateKey({
    key: Buffer.concat([ED25519_PKCS8_HEAD, seed]),
    format: "der",
    type: "pkcs8",
  });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  return spki.subarray(ED25519_SPKI_HEAD_BYTES);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
