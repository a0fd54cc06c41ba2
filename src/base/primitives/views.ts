/** Views of a reused buffer, by length: creating a view for each use takes as long as writing a few bytes. Users must copy what they keep. */
export class Views {
  readonly #bytes: Uint8Array;
  readonly #views: Uint8Array[] = [];

  constructor(lengthMax: number) {
    this.#bytes = new Uint8Array(lengthMax);
  }

  /** The first `length` bytes; a new array if that exceeds the buffer. */
  of(length: number): Uint8Array {
    if (length > this.#bytes.length) return new Uint8Array(length);
    this.#views[length] ??= this.#bytes.subarray(0, length);
    return this.#views[length];
  }
}
