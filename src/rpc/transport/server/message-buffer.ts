/** Bytes of one message that arrives in pieces. It holds at most twice their number, however small the pieces are. */
export class MessageBuffer {
  /** The only piece so far, as it came; else a buffer of our own that grows. */
  #bytes: Buffer | undefined;
  #isOwn = false;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Memory in use: a piece keeps the whole read it is a part of. */
  get heldBytes(): number {
    return this.#bytes?.buffer.byteLength ?? 0;
  }

  push(piece: Buffer): void {
    if (piece.length === 0) return;
    const length = this.#length + piece.length;
    if (this.#bytes === undefined) {
      this.#bytes = piece;
    } else {
      if (!this.#isOwn || length > this.#bytes.length) this.#grow(length);
      piece.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  /** The message; the buffer is empty afterwards. */
  take(): Buffer {
    const message = this.#bytes?.subarray(0, this.#length) ?? Buffer.alloc(0);
    this.#bytes = undefined;
    this.#isOwn = false;
    this.#length = 0;
    return message;
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafeSlow(2 * length);
    this.#bytes!.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
    this.#isOwn = true;
  }
}
