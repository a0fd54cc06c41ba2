/** An ECDSA signature in Ethereum's terms. */
export type Signature = {
  /** In [1, n − 1], as s. */
  readonly r: bigint;
  readonly s: bigint;
  /** Parity of the y coordinate of the point r came from. */
  readonly yParity: 0 | 1;
};

/** A digest and the signature of it, as bytes: what recovers many keys makes no integers on the way. */
export type SignedDigest = {
  /** 32 bytes */
  readonly digest: Uint8Array;
  /** r ‖ s, 32 bytes each */
  readonly signature: Uint8Array;
  readonly yParity: 0 | 1;
};

/** What one implementation of the curve has to offer; arguments are checked by the caller. */
export interface Secp256k1Backend {
  readonly name: "native" | "wasm";
  /** The 64-byte public keys (x ‖ y) that made the signatures, undefined for a signature without one. */
  recover(signed: readonly SignedDigest[]): (Uint8Array | undefined)[];
  /** Deterministic ECDSA (RFC 6979) with low s. */
  sign(digest: Uint8Array, privateKey: Uint8Array): Signature;
  publicKey(privateKey: Uint8Array): Uint8Array;
}
