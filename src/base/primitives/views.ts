/**
 * Bytes that are written again and again, by length: to make a view of them for each use takes as long as it takes to write some. Who is given them
 * copies what it keeps.
 */
export class Views {
  readonly #bytes: Uint8Array;
  readonly #views: Uint8Array[] = [];

  constructor(lengthMax: number) {
    this.#bytes = new Uint8Array(lengthMax);
  }

  /** The first `length` bytes; longer ones than the longest are new. */
  of(length: number): Uint8Array {
    if (length > this.#bytes.length) return new Uint8Array(length);
    this.#views[length] ??= this.#bytes.subarray(0, length);
    return this.#views[length];
  }
}
