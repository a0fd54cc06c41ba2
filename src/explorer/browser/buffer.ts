/** The part of Node's `Buffer` that codecs and tries use, for browsers: hex, Latin-1, UTF-8, joining and comparison. */
class BrowserBuffer extends Uint8Array {
  static alloc(length: number): BrowserBuffer {
    return new BrowserBuffer(length);
  }

  static concat(parts: readonly Uint8Array[]): BrowserBuffer {
    const joined = new BrowserBuffer(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  }

  /** A view of a buffer, as Node's; the text forms are copies. */
  static view(
    source: ArrayBufferLike | string,
    offset?: number | "utf8",
    length?: number,
  ): BrowserBuffer {
    if (offset === "utf8") return new TextEncoder().encode(source as string) as BrowserBuffer;
    if (typeof source === "string") {
      return Uint8Array.from(source, (digit) => digit.charCodeAt(0)) as BrowserBuffer;
    }
    return new BrowserBuffer(source as ArrayBuffer, offset, length);
  }

  /** Negative, zero or positive in byte order; a prefix is smaller. */
  static compare(a: Uint8Array, b: Uint8Array): number {
    const length = Math.min(a.length, b.length);
    for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
    return a.length - b.length;
  }

  /** Hex digits without prefix. */
  override toString(_encoding?: "hex", start = 0, end = this.length): string {
    let digits = "";
    for (let i = start; i < end; i++) digits += this[i]!.toString(16).padStart(2, "0");
    return digits;
  }

  /** Writes the bytes of hex digits from `offset` on; returns their count. */
  write(digits: string, offset: number | "hex" = 0): number {
    const start = offset === "hex" ? 0 : offset;
    const count = digits.length >> 1;
    for (let i = 0; i < count; i++) {
      this[start + i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16);
    }
    return count;
  }
}

/** Injected by the bundler wherever a module of the node says `Buffer`. */
export const Buffer = Object.assign(BrowserBuffer, { from: BrowserBuffer.view });
