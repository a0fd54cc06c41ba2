import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { addressOfCompressedKey, compressPublicKey } from "../../../base/crypto/compressed-public-key.ts";
import { isPrivateKey, secp256k1 } from "../../../base/crypto/secp256k1.ts";
import { type Address, addressToBytes, parseAddress } from "../../../base/primitives/address.ts";
import { createFile, replaceFile } from "../../../store/storage/replace-file.ts";
import { EngineHomeError, jsonText, readJsonFile } from "../json-file.ts";
import { createSigningState } from "./signing-state.ts";

/** Keys in CometBFT's home, relative to it. */
export const KEY_FILES = {
  /** The signing key. */
  validator: "config/priv_validator_key.json",
  /** Replaces the validator's key once it is in the validator set. */
  next: "config/priv_validator_key.next.json",
  /** CometBFT's key while the validator's must not sign: it is in no validator set. */
  follower: "config/follower_key.json",
} as const;

/** Signing state of the follower's key, relative to CometBFT's home. */
export const FOLLOWER_STATE_FILE = "data/follower_state.json";

/** A key of this home, or of its remote signer. */
export type ValidatorKey = {
  readonly address: Address;
  /** compressed, 33 bytes */
  readonly publicKey: Uint8Array;
};

/** Creates the validator's key if it is missing. @param privateKey random if not given */
export function createValidatorKey(directory: string, privateKey = randomPrivateKey()): void {
  createFile(join(directory, KEY_FILES.validator), jsonText(keyFile(privateKey)), 0o600);
}

/** Creates the key that will replace the validator's, unless there is one. @returns it */
export function createNextKey(directory: string): ValidatorKey {
  createFile(join(directory, KEY_FILES.next), jsonText(keyFile(randomPrivateKey())), 0o600);
  return readKey(join(directory, KEY_FILES.next));
}

/** Creates the follower's key, if it is missing. */
export function createFollowerKey(directory: string): void {
  createFile(join(directory, KEY_FILES.follower), jsonText(keyFile(randomPrivateKey())), 0o600);
  createSigningState(directory, FOLLOWER_STATE_FILE);
}

/** The validator's key. @throws EngineHomeError */
export function readValidatorKey(directory: string): ValidatorKey {
  return readKey(join(directory, KEY_FILES.validator));
}

/** The key that will replace it; undefined if none. @throws EngineHomeError */
export function readNextKey(directory: string): ValidatorKey | undefined {
  const path = join(directory, KEY_FILES.next);
  return existsSync(path) ? readKey(path) : undefined;
}

/** Compressed public key of the home's validator: 33 bytes. @throws EngineHomeError */
export function validatorPublicKey(directory: string): Uint8Array {
  return readValidatorKey(directory).publicKey;
}

/** Private key of the home's validator: 32 bytes. @throws EngineHomeError */
export function validatorPrivateKey(directory: string): Uint8Array {
  return readPrivateKey(join(directory, KEY_FILES.validator));
}

/** File names of replaced keys. */
const FORMER_KEY = /^priv_validator_key\.([0-9a-f]{40})\.json$/;

/** The replaced keys whose files still exist. */
export function formerKeys(directory: string): readonly { readonly address: Address; readonly file: string }[] {
  const config = join(directory, "config");
  return readdirSync(config).flatMap((name) => {
    const [, digits] = FORMER_KEY.exec(name) ?? [];
    return digits === undefined ? [] : [{ address: parseAddress(`0x${digits}`), file: join(config, name) }];
  });
}

/**
 * Makes the next key the validator's. The old one stays in a file named by its address. A crash leaves either key in place, and the call can be
 * repeated.
 * @throws EngineHomeError, and errors of the disk
 */
export function adoptNextKey(directory: string): void {
  const [validator, next] = [KEY_FILES.validator, KEY_FILES.next].map((name) => join(directory, name)) as [
    string,
    string,
  ];
  const old = readKey(validator).address;
  if (old !== readKey(next).address) {
    createFile(join(directory, "config", `priv_validator_key.${old.slice(2)}.json`), readFileSync(validator), 0o600);
    replaceFile(validator, readFileSync(next), 0o600);
  }
  rmSync(next);
}

function readKey(file: string): ValidatorKey {
  // The public key in the file is for humans: CometBFT does not read it either.
  const publicKey = compressedPublicKey(readPrivateKey(file));
  return { publicKey, address: addressOfCompressedKey(publicKey)! };
}

function readPrivateKey(file: string): Uint8Array {
  const { priv_key } = readJsonFile(file) as { readonly priv_key?: { readonly value?: unknown } };
  const key = typeof priv_key?.value === "string" ? Buffer.from(priv_key.value, "base64") : undefined;
  if (key === undefined || !isPrivateKey(key)) {
    throw new EngineHomeError(`${file} does not have a secp256k1eth key`, { file });
  }
  return new Uint8Array(key);
}

/** CometBFT's `priv_validator_key.json` of a validator whose address is its Ethereum address. */
function keyFile(privateKey: Uint8Array): object {
  const publicKey = compressedPublicKey(privateKey);
  const address = Buffer.from(addressToBytes(addressOfCompressedKey(publicKey)!));
  return {
    address: address.toString("hex").toUpperCase(),
    pub_key: { type: "tendermint/PubKeySecp256k1eth", value: base64(publicKey) },
    priv_key: { type: "tendermint/PrivKeySecp256k1eth", value: base64(privateKey) },
  };
}

/** 33 bytes. */
function compressedPublicKey(privateKey: Uint8Array): Uint8Array {
  return compressPublicKey(secp256k1.publicKeyFromPrivate(privateKey));
}

function randomPrivateKey(): Uint8Array {
  for (;;) {
    const key = randomBytes(32);
    if (isPrivateKey(key)) return key;
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
