import { NodeError } from "../errors.ts";
import { type Address, addressFromBytes } from "../primitives/address.ts";
import { bigintToFixedBytes, bytesToBigint } from "../primitives/bytes.ts";
import { keccak256 } from "../primitives/keccak.ts";
import { ORDER } from "./secp256k1/scalars.ts";
import type { Secp256k1Backend, Signature, SignedDigest } from "./secp256k1-backend.ts";
import { loadNativeBackend } from "./secp256k1-native.ts";
import { loadWasmBackend } from "./secp256k1-wasm.ts";

/** Order n of the group; private keys, r and s are in [1, n − 1]. */
export const SECP256K1_ORDER = ORDER;
/** The largest s that EIP-2 accepts. */
export const SECP256K1_HALF_ORDER = SECP256K1_ORDER / 2n;

/** A private key out of range: zero, or not below the group order. */
class InvalidPrivateKeyError extends NodeError {
  readonly code = "INVALID_PRIVATE_KEY";
  constructor() {
    super("invalid private key");
  }
}

export interface Secp256k1 {
  /** Which implementation does the work. */
  readonly backend: Secp256k1Backend["name"];
  /**
   * The 64-byte public key (x ‖ y) of the signature; undefined if r or s is out of range, or r is not on the curve. Callers decide whether a
   * high s is acceptable (EIP-2).
   * @param digest 32 bytes
   */
  recoverPublicKey(digest: Uint8Array, r: bigint, s: bigint, yParity: 0 | 1): Uint8Array | undefined;
  /** `recoverPublicKey` for many signatures, faster than one after the other. */
  recoverPublicKeys(signed: readonly SignedDigest[]): (Uint8Array | undefined)[];
  /** Like `recoverPublicKey`, but returns the address of the key. */
  recoverAddress(digest: Uint8Array, r: bigint, s: bigint, yParity: 0 | 1): Address | undefined;
  /**
   * Deterministic signature (RFC 6979) with low s.
   * @throws InvalidPrivateKeyError
   */
  sign(digest: Uint8Array, privateKey: Uint8Array): Signature;
  /**
   * The 64-byte public key (x ‖ y).
   * @throws InvalidPrivateKeyError
   */
  publicKeyFromPrivate(privateKey: Uint8Array): Uint8Array;
}

/** The curve's operations on top of `backend`. All code but tests uses the functions below, bound to the best available backend. */
export function createSecp256k1(backend: Secp256k1Backend): Secp256k1 {
  function recoverPublicKey(digest: Uint8Array, r: bigint, s: bigint, yParity: 0 | 1) {
    if (!isScalar(r) || !isScalar(s)) return undefined;
    return backend.recover([{ digest, signature: signatureBytes(r, s), yParity }])[0];
  }
  return {
    get backend() {
      return backend.name;
    },
    recoverPublicKey,
    recoverPublicKeys(signed) {
      if (signed.every(hasScalars)) return backend.recover(signed);
      const keys = backend.recover(signed.filter(hasScalars)).values();
      return signed.map((item) => (hasScalars(item) ? keys.next().value : undefined));
    },
    recoverAddress(digest, r, s, yParity) {
      const publicKey = recoverPublicKey(digest, r, s, yParity);
      return publicKey && addressFromPublicKey(publicKey);
    },
    sign(digest, privateKey) {
      assertPrivateKey(privateKey);
      return backend.sign(digest, privateKey);
    },
    publicKeyFromPrivate(privateKey) {
      assertPrivateKey(privateKey);
      return backend.publicKey(privateKey);
    },
  };
}

/** Address of a 64-byte public key (x ‖ y): the last 20 bytes of its keccak256. */
export function addressFromPublicKey(publicKey: Uint8Array): Address {
  return addressFromBytes(keccak256(publicKey).subarray(12));
}

/**
 * Address of the account that `privateKey` controls.
 * @throws InvalidPrivateKeyError
 */
export function addressFromPrivateKey(privateKey: Uint8Array): Address {
  return addressFromPublicKey(publicKeyFromPrivate(privateKey));
}

/** Whether `bytes` are a private key: 32 bytes in [1, n − 1]. */
export function isPrivateKey(bytes: Uint8Array): boolean {
  return bytes.length === 32 && isScalar(bytesToBigint(bytes));
}

function assertPrivateKey(bytes: Uint8Array): void {
  if (!isPrivateKey(bytes)) throw new InvalidPrivateKeyError();
}

function isScalar(value: bigint): boolean {
  return value > 0n && value < SECP256K1_ORDER;
}

/** r ‖ s, 32 bytes each. */
export function signatureBytes(r: bigint, s: bigint): Uint8Array {
  const signature = new Uint8Array(64);
  signature.set(bigintToFixedBytes(r, 32));
  signature.set(bigintToFixedBytes(s, 32), 32);
  return signature;
}

const ORDER_BYTES = bigintToFixedBytes(SECP256K1_ORDER, 32);
const HALF_ORDER_END_BYTES = bigintToFixedBytes(SECP256K1_HALF_ORDER + 1n, 32);

/** Whether r and s of `signed` are in [1, n − 1]. */
export function hasScalars({ signature }: SignedDigest): boolean {
  return isScalarAt(signature, 0, ORDER_BYTES) && isScalarAt(signature, 32, ORDER_BYTES);
}

/** Whether s of `signed` is at most half the order (EIP-2). */
export function hasLowS({ signature }: SignedDigest): boolean {
  return isScalarAt(signature, 32, HALF_ORDER_END_BYTES);
}

/** Whether the 32 bytes from `start` on are a number above 0 and below `end`: the first byte nearly always decides. */
function isScalarAt(bytes: Uint8Array, start: number, end: Uint8Array): boolean {
  let at = 0;
  while (at < 32 && bytes[start + at] === end[at]) at++;
  if (at === 32 || bytes[start + at]! > end[at]!) return false;
  for (let i = 0; i < 32; i++) if (bytes[start + i] !== 0) return true;
  return false;
}

/** The native addon if it loads, else WebAssembly. Loading takes 10 ms, so a start does not wait for it. */
function loadedAtFirstUse(): Secp256k1Backend {
  let loaded: Secp256k1Backend | undefined;
  const load = () => {
    loaded ??= loadNativeBackend() ?? loadWasmBackend();
    return loaded;
  };
  return {
    get name() {
      return load().name;
    },
    recover: (signed) => load().recover(signed),
    sign: (digest, privateKey) => load().sign(digest, privateKey),
    publicKey: (privateKey) => load().publicKey(privateKey),
  };
}

export const secp256k1: Secp256k1 = createSecp256k1(loadedAtFirstUse());

export const { recoverPublicKey, recoverPublicKeys, recoverAddress, sign, publicKeyFromPrivate } = secp256k1;

/** Loads the backend, so that the first signature does not wait for it. */
export function loadSignatures(): void {
  void secp256k1.backend;
}
