import { secp256k1 } from "@noble/curves/secp256k1.js";

/** `createECDH` and `ECDH.convertKey` of `node:crypto` for secp256k1. Public keys have 65 bytes. */
class KeyAgreement {
  #privateKey: Uint8Array = new Uint8Array(0);

  generateKeys(): Uint8Array {
    this.#privateKey = secp256k1.utils.randomSecretKey();
    return this.getPublicKey();
  }

  setPrivateKey(key: Uint8Array): void {
    this.#privateKey = key;
  }

  getPrivateKey(): Uint8Array {
    return this.#privateKey;
  }

  getPublicKey(): Uint8Array {
    return secp256k1.getPublicKey(this.#privateKey, false);
  }

  /** The x coordinate of the shared point, 32 bytes. */
  computeSecret(publicKey: Uint8Array): Uint8Array {
    return secp256k1.getSharedSecret(this.#privateKey, publicKey).subarray(1);
  }
}

export function createECDH(_curve: "secp256k1"): KeyAgreement {
  return new KeyAgreement();
}

/** @throws if `key` is not a point on the curve */
export function convertKey(key: Uint8Array, _curve: "secp256k1"): Uint8Array {
  return secp256k1.Point.fromBytes(key).toBytes(false);
}
