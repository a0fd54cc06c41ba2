import { cbc, ctr, gcm } from "@noble/ciphers/aes.js";
import { concatBytes, EMPTY_BYTES } from "../../../base/primitives/bytes.ts";

/**
 * `createCipheriv` and `createDecipheriv` of `node:crypto` for the ciphers of key files, wallets and Whisper. Web Crypto offers them only as
 * promises.
 */
type CipherName = "aes-128-cbc" | "aes-128-ctr" | "aes-256-gcm";

const TAG_BYTES = 16;

class Encryption {
  readonly #encrypt: (plain: Uint8Array) => Uint8Array;
  readonly #tagBytes: number;
  #tag: Uint8Array = EMPTY_BYTES;

  constructor(encrypt: (plain: Uint8Array) => Uint8Array, tagBytes: number) {
    this.#encrypt = encrypt;
    this.#tagBytes = tagBytes;
  }

  /** Called once for each cipher. */
  update(plain: Uint8Array): Uint8Array {
    const sealed = this.#encrypt(plain);
    const end = sealed.length - this.#tagBytes;
    this.#tag = sealed.subarray(end);
    return sealed.subarray(0, end);
  }

  final(): Uint8Array {
    return EMPTY_BYTES;
  }

  getAuthTag(): Uint8Array {
    return this.#tag;
  }
}

class Decryption {
  readonly #decrypt: (ciphertext: Uint8Array) => Uint8Array;
  #tag: Uint8Array = EMPTY_BYTES;
  #failure: unknown;

  constructor(decrypt: (ciphertext: Uint8Array) => Uint8Array) {
    this.#decrypt = decrypt;
  }

  /** Call it before `update`. */
  setAuthTag(tag: Uint8Array): this {
    this.#tag = tag;
    return this;
  }

  /** Called once for each cipher; empty if `final` throws. */
  update(ciphertext: Uint8Array): Uint8Array {
    try {
      return this.#decrypt(concatBytes(ciphertext, this.#tag));
    } catch (error) {
      this.#failure = error;
      return EMPTY_BYTES;
    }
  }

  /** @throws if the padding is invalid, or the tag does not match the ciphertext */
  final(): Uint8Array {
    if (this.#failure !== undefined) throw this.#failure;
    return EMPTY_BYTES;
  }
}

export function createCipheriv(name: Exclude<CipherName, "aes-128-cbc">, key: Uint8Array, iv: Uint8Array): Encryption {
  const cipher = name === "aes-128-ctr" ? ctr(key, iv) : gcm(key, iv);
  return new Encryption((plain) => cipher.encrypt(plain), name === "aes-256-gcm" ? TAG_BYTES : 0);
}

const MODES = { "aes-128-cbc": cbc, "aes-128-ctr": ctr, "aes-256-gcm": gcm } as const;

export function createDecipheriv(name: CipherName, key: Uint8Array, iv: Uint8Array): Decryption {
  const cipher = MODES[name](key, iv);
  return new Decryption((ciphertext) => cipher.decrypt(ciphertext));
}
