/** What one implementation of the curve has to offer; arguments are checked by the caller. */
export interface Secp256k1Backend {
  readonly name: "native" | "wasm";
  /**
   * The 65-byte uncompressed public key that made a signature, or undefined where there is none.
   * @param signature r ‖ s, each in [1, n − 1]
   */
  recover(signature: Uint8Array, recoveryId: 0 | 1, digest: Uint8Array): Uint8Array | undefined;
  /** Deterministic ECDSA (RFC 6979) with low s: r ‖ s and the recovery id. */
  sign(
    digest: Uint8Array,
    privateKey: Uint8Array,
  ): { readonly signature: Uint8Array; readonly recoveryId: number };
  /** The 65-byte uncompressed public key. */
  publicKey(privateKey: Uint8Array): Uint8Array;
}
