import { concatBytes } from "../../primitives/bytes.ts";
import { counterMode, decryptChained, expandKey, firstCounter, galoisTag } from "./aes.ts";
import { timingSafeEqual } from "./timing-safe-equal.ts";

/** `createCipheriv` and `createDecipheriv` of `node:crypto` for the ciphers of key files, wallets and Whisper. */
type CipherName = "aes-128-cbc" | "aes-128-ctr" | "aes-256-gcm";

/** All that `update` was given comes out of `update` in the stream modes, and of `final` in CBC. */
abstract class Cipher {
  protected readonly keys: Uint8Array;
  protected readonly iv: Uint8Array;
  protected readonly name: CipherName;
  protected ciphertext: Uint8Array = new Uint8Array(0);

  constructor(name: CipherName, key: Uint8Array, iv: Uint8Array) {
    this.name = name;
    this.keys = expandKey(key);
    this.iv = iv;
  }

  protected stream(data: Uint8Array): Uint8Array {
    return this.name === "aes-128-ctr"
      ? counterMode(this.keys, this.iv, data, 16)
      : counterMode(this.keys, firstCounter(this.iv, 2), data, 4);
  }

  protected tag(): Uint8Array {
    return galoisTag(this.keys, this.iv, this.ciphertext);
  }
}

class Encryption extends Cipher {
  /** Once a cipher. */
  update(plain: Uint8Array): Uint8Array {
    this.ciphertext = this.stream(plain);
    return this.ciphertext;
  }

  final(): Uint8Array {
    return new Uint8Array(0);
  }

  getAuthTag(): Uint8Array {
    return this.tag();
  }
}

class Decryption extends Cipher {
  #tag: Uint8Array | undefined;

  setAuthTag(tag: Uint8Array): this {
    this.#tag = tag;
    return this;
  }

  /** Once a cipher. */
  update(ciphertext: Uint8Array): Uint8Array {
    this.ciphertext = concatBytes(ciphertext);
    return this.name === "aes-128-cbc" ? new Uint8Array(0) : this.stream(ciphertext);
  }

  /** @throws where the padding is invalid, or the tag is not that of the ciphertext */
  final(): Uint8Array {
    if (this.name === "aes-128-cbc") {
      const plain = decryptChained(this.keys, this.iv, this.ciphertext);
      if (plain === undefined) throw new Error("bad decrypt");
      return plain;
    }
    const isAuthentic =
      this.name === "aes-128-ctr" ||
      (this.#tag?.length === 16 && timingSafeEqual(this.tag(), this.#tag));
    if (!isAuthentic) throw new Error("unable to authenticate data");
    return new Uint8Array(0);
  }
}

export function createCipheriv(
  name: Exclude<CipherName, "aes-128-cbc">,
  key: Uint8Array,
  iv: Uint8Array,
): Encryption {
  return new Encryption(name, key, iv);
}

export function createDecipheriv(name: CipherName, key: Uint8Array, iv: Uint8Array): Decryption {
  return new Decryption(name, key, iv);
}
