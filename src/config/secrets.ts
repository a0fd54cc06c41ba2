import { randomBytes } from "node:crypto";
import { lstatSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../storage/make-folder.ts";
import { InvalidConfigError } from "./errors.ts";
import { jwtSecretPath, nodeKeyPath } from "./home.ts";

const SECRET_BYTES = 32;

/** Writes a fresh secret into the home unless there is one: 32 bytes as hex, for this user alone. */
export function createJwtSecret(home: string): void {
  createSecret(jwtSecretPath(home));
}

/**
 * The secret of the home, 32 bytes.
 * @throws InvalidConfigError when it is missing, something else, or readable by other users
 */
export function readJwtSecret(home: string): Uint8Array {
  return readSecret(jwtSecretPath(home));
}

/** Writes the private key the node is known by, unless there is one. */
export function createNodeKey(home: string): void {
  createSecret(nodeKeyPath(home));
}

/** The private key the node is known by, 32 bytes. A chain in memory has it when it is first asked for. @throws as readJwtSecret */
export function nodeKey(home: string): Uint8Array {
  createNodeKey(home);
  return readSecret(nodeKeyPath(home));
}

function createSecret(path: string): void {
  makeFolder(dirname(path));
  const text = `0x${randomBytes(SECRET_BYTES).toString("hex")}\n`;
  try {
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function readSecret(path: string): Uint8Array {
  let text: string;
  let mode: number;
  try {
    mode = lstatSync(path).mode & 0o777;
    text = readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new InvalidConfigError(
      `cannot read ${path}: it is made by "evmintd init" and by the first start`,
      { path },
      { cause },
    );
  }
  if (process.platform !== "win32" && (mode & 0o077) !== 0) {
    throw new InvalidConfigError(
      `${path} is open to other users (mode ${mode.toString(8)}); chmod 600 it`,
      { path },
    );
  }
  // The text itself is never repeated: it may be a secret with one digit too many.
  const digits = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text)?.[1];
  if (digits === undefined) {
    throw new InvalidConfigError(`${path} does not hold ${SECRET_BYTES} bytes as hex`, { path });
  }
  return Buffer.from(digits, "hex");
}
