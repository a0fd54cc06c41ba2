import { hmac } from "@noble/hashes/hmac.js";
import { pbkdf2 as deriveByPbkdf2, pbkdf2Async } from "@noble/hashes/pbkdf2.js";
import { scryptAsync } from "@noble/hashes/scrypt.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "../../../base/primitives/bytes.ts";
import { Buffer } from "./buffer.ts";
import { convertKey } from "./ecdh.ts";
import { decodeText, type Encoding } from "./text-encodings.ts";

/** The part of `node:crypto` that this node uses, on @noble/hashes: Web Crypto offers it only as promises. */
export { createCipheriv, createDecipheriv } from "./ciphers.ts";
export { createECDH } from "./ecdh.ts";

const HASHES = { sha256, sha512 } as const;
type HashName = keyof typeof HASHES;

export const ECDH = { convertKey };

/** Maximum bytes of one call of `getRandomValues`. */
const RANDOM_BYTES_MAX = 65_536;

export function hash(name: HashName, data: Uint8Array, _encoding: "buffer"): Uint8Array {
  return HASHES[name](data);
}

type Hasher = { update(data: Uint8Array): unknown; digest(): Uint8Array };

class Digest {
  readonly #hasher: Hasher;

  constructor(hasher: Hasher) {
    this.#hasher = hasher;
  }

  update(data: Uint8Array | string): this {
    this.#hasher.update(bytesOf(data));
    return this;
  }

  digest(): Uint8Array;
  digest(encoding: Encoding): string;
  digest(encoding?: Encoding): Uint8Array | string {
    const bytes = Buffer.from(this.#hasher.digest());
    return encoding === undefined ? bytes : bytes.toString(encoding);
  }
}

export function createHash(name: HashName): Digest {
  return new Digest(HASHES[name].create());
}

export function createHmac(name: HashName, key: Uint8Array | string): Digest {
  return new Digest(hmac.create(HASHES[name], bytesOf(key)));
}

export function pbkdf2Sync(
  password: string,
  salt: Uint8Array | string,
  c: number,
  dkLen: number,
  name: HashName,
): Uint8Array {
  return deriveByPbkdf2(HASHES[name], bytesOf(password), bytesOf(salt), { c, dkLen });
}

type Callback = (error: unknown, derived?: Uint8Array) => void;

export function pbkdf2(
  password: string,
  salt: Uint8Array,
  c: number,
  dkLen: number,
  name: HashName,
  done: Callback,
): void {
  const derived = pbkdf2Async(HASHES[name], bytesOf(password), salt, { c, dkLen });
  derived.then((key) => done(null, key), done);
}

/** Node's `maxmem` counts a little more than that of @noble/hashes, so it is a sufficient limit. */
export function scrypt(
  password: string,
  salt: Uint8Array,
  dkLen: number,
  options: { readonly N: number; readonly r: number; readonly p: number; readonly maxmem: number },
  done: Callback,
): void {
  const derived = scryptAsync(bytesOf(password), salt, { ...options, dkLen });
  derived.then((key) => done(null, key), done);
}

export function randomBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += RANDOM_BYTES_MAX) {
    crypto.getRandomValues(bytes.subarray(at, at + RANDOM_BYTES_MAX));
  }
  return bytes;
}

/** A random integer below `end`, which is at most 2^32. */
export function randomInt(end: number): number {
  // Numbers above the last multiple of `end` would make small results more likely.
  const limit = 2 ** 32 - (2 ** 32 % end);
  for (;;) {
    const value = randomBytes(4).readUInt32LE();
    if (value < limit) return value % end;
  }
}

/** Also works on pages without TLS, where browsers lack `crypto.randomUUID`. */
export function randomUUID(): string {
  const bytes = randomBytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** `timingSafeEqual`: takes the same time wherever the bytes differ. @throws RangeError for different lengths */
export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) throw new RangeError("inputs must have the same length");
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}

function bytesOf(data: Uint8Array | string): Uint8Array {
  return typeof data === "string" ? decodeText(data) : concatBytes(data);
}
