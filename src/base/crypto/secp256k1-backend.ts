/** An ECDSA signature in Ethereum's terms. */
export type Signature = {
  /** In [1, n − 1], like s. */
  readonly r: bigint;
  readonly s: bigint;
  /** Parity of the y coordinate of the point whose x is r. */
  readonly yParity: 0 | 1;
};

/** A digest and its signature as bytes, so that recovering many keys creates no bigints. */
export type SignedDigest = {
  /** 32 bytes */
  readonly digest: Uint8Array;
  /** r ‖ s, 32 bytes each */
  readonly signature: Uint8Array;
  readonly yParity: 0 | 1;
};

/** An implementation of the curve; callers check arguments. */
export interface Secp256k1Backend {
  readonly name: "native" | "wasm";
  /** The 64-byte public keys (x ‖ y) of the signatures, undefined for invalid ones. */
  recover(signed: readonly SignedDigest[]): (Uint8Array | undefined)[];
  /** Deterministic ECDSA (RFC 6979) with low s. */
  sign(digest: Uint8Array, privateKey: Uint8Array): Signature;
  publicKey(privateKey: Uint8Array): Uint8Array;
}
