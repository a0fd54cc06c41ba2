import { randomBytes } from "node:crypto";
import { lstatSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Hash, hashFromBytes, parseHash } from "../../base/primitives/hash.ts";
import { makeFolder } from "../../store/storage/make-folder.ts";
import { readTextFile } from "../../store/storage/read-file.ts";
import { createFile } from "../../store/storage/replace-file.ts";
import type { Config } from "./config.ts";
import { InvalidConfigError } from "./errors.ts";
import { CONFIG_FILE_BYTES_MAX, dataPath, isInMemory, jwtSecretPath, nodeKeyPath } from "./home.ts";

const SECRET_BYTES = 32;

/** Writes a new secret to the home unless it has one: 32 bytes as hex, readable only by this user. */
export function createJwtSecret(home: string): void {
  createSecret(jwtSecretPath(home));
}

/**
 * The home's secret, 32 bytes.
 * @throws InvalidConfigError if it is missing, malformed, or readable by other users
 */
export function readJwtSecret(home: string): Uint8Array {
  return readSecret(jwtSecretPath(home));
}

/** Writes the private key of the node's identity, unless there is one. */
export function createNodeKey(home: string): void {
  createSecret(nodeKeyPath(home));
}

/** The private key of the node's identity, 32 bytes; created on first use for a chain in memory. @throws as readJwtSecret */
export function nodeKey(home: string): Uint8Array {
  createNodeKey(home);
  return readSecret(nodeKeyPath(home));
}

/** Writes random bytes as hex to a new file; keeps an existing one. */
function createSecret(path: string, mode = 0o600): void {
  makeFolder(dirname(path));
  createFile(path, `0x${randomBytes(SECRET_BYTES).toString("hex")}\n`, mode);
}

function readSecret(path: string): Uint8Array {
  let text: string;
  let mode: number;
  try {
    mode = lstatSync(path).mode & 0o777;
    text = readTextFile(path, { bytesMax: CONFIG_FILE_BYTES_MAX }).trim();
  } catch (cause) {
    throw new InvalidConfigError(
      `cannot read ${path}, which "evmintd init" or the first start creates`,
      { path },
      { cause },
    );
  }
  if (process.platform !== "win32" && (mode & 0o077) !== 0) {
    throw new InvalidConfigError(`${path} is open to other users (mode ${mode.toString(8)}); chmod 600 it`, { path });
  }
  // The error never quotes the text: it may be a secret with one digit too many.
  const digits = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text)?.[1];
  if (digits === undefined) {
    throw new InvalidConfigError(`${path} does not hold ${SECRET_BYTES} bytes as hex`, { path });
  }
  return Buffer.from(digits, "hex");
}

/** Random id of a chain's data, created on first use. */
export type InstanceId = {
  value(): Hash;
  /** Call it when the chain starts over. */
  renew(): void;
};

export function openInstanceId(config: Pick<Config, "home" | "dev" | "devChain">): InstanceId {
  if (!isInMemory(config)) {
    return {
      value: () => storedId(config.home),
      renew: () => rmSync(pathOf(config.home), { force: true }),
    };
  }
  const random = () => hashFromBytes(randomBytes(32));
  let id = random();
  return {
    value: () => id,
    renew() {
      id = random();
    },
  };
}

/**
 * The id is stored beside the data, so that it disappears with the chain: the home's next chain gets another id, even with the same genesis
 * block.
 */
function pathOf(home: string): string {
  return join(dataPath(home), "instance-id");
}

function storedId(home: string): Hash {
  const path = pathOf(home);
  createSecret(path, 0o666);
  return parseHash(readTextFile(path, { bytesMax: CONFIG_FILE_BYTES_MAX }).trim());
}
