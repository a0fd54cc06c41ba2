/** RFC 6455 section 5.2: the last fragment of a message; the opcode of the first one of a text, that of the others is 0. */
const FIN = 0x80;
const TEXT = 0x01;
const CONTROL = 0x08;
const MASKED = 0x80;
const LENGTH_IN_16_BITS = 126;
const LENGTH_IN_64_BITS = 127;

/** Where a frame is in its message. */
type Fragment = { readonly isFirst: boolean; readonly isLast: boolean };

const WHOLE_MESSAGE: Fragment = { isFirst: true, isLast: true };

/**
 * The head of an unmasked frame with a text, or a fragment of one, of `length` bytes, one character for each byte: a string, because an ASCII text
 * written after it as `latin1` goes to the system without a copy on our side.
 * @see https://www.rfc-editor.org/rfc/rfc6455#section-5.2
 */
export function textFrameHead(length: number, fragment = WHOLE_MESSAGE): string {
  const { fromCharCode } = String;
  const first = (fragment.isFirst ? TEXT : 0) | (fragment.isLast ? FIN : 0);
  if (length < LENGTH_IN_16_BITS) return fromCharCode(first, length);
  if (length < 0x10000) {
    return fromCharCode(first, LENGTH_IN_16_BITS, length >>> 8, length & 0xff);
  }
  // No string has 2^32 characters.
  const low = [length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff];
  return fromCharCode(first, LENGTH_IN_64_BITS, 0, 0, 0, 0, ...low);
}

/** What one stored fragment, or one read of a fragment, takes in memory besides its bytes. */
const PIECE_BYTES = 128;

/**
 * Follows the frames of a client's stream without storing them. Knows whether a message is incomplete, and the approximate memory of its
 * stored part. `ws` reports complete messages only.
 */
export class FrameMeter {
  #head = Buffer.alloc(14);
  #headLength = 0;
  #payloadLeft = 0;
  #isControl = false;
  #isFinal = true;
  /** Some fragments of a message have arrived, the last one has not. */
  #isFragmented = false;
  #storedBytes = 0;
  #messages = 0;

  /** The number of the incomplete message or control frame, undefined between them. */
  get message(): number | undefined {
    const isIncomplete = this.#isFragmented || this.#headLength > 0 || this.#payloadLeft > 0;
    return isIncomplete ? this.#messages : undefined;
  }

  /** Bytes of the current frame that have not arrived. */
  get payloadLeft(): number {
    return this.#payloadLeft;
  }

  /** Memory of the incomplete message. */
  get storedBytes(): number {
    return this.#storedBytes;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#payloadLeft === 0) {
        at = this.#readHead(chunk, at);
        continue;
      }
      const length = Math.min(this.#payloadLeft, chunk.length - at);
      at += length;
      this.#payloadLeft -= length;
      if (!this.#isControl) this.#storedBytes += length + PIECE_BYTES;
      if (this.#payloadLeft === 0) this.#frameEnded();
    }
  }

  #readHead(chunk: Buffer, start: number): number {
    let at = start;
    while (at < chunk.length) {
      this.#head[this.#headLength++] = chunk[at++]!;
      if (this.#headLength === headBytes(this.#head, this.#headLength)) {
        this.#frameBegan();
        break;
      }
    }
    return at;
  }

  #frameBegan(): void {
    const [first, second] = this.#head as unknown as [number, number];
    const length = second & 0x7f;
    this.#headLength = 0;
    this.#isFinal = (first & FIN) !== 0;
    this.#isControl = (first & CONTROL) !== 0;
    this.#payloadLeft =
      length === LENGTH_IN_64_BITS
        ? Number(this.#head.readBigUInt64BE(2))
        : length === LENGTH_IN_16_BITS
          ? this.#head.readUInt16BE(2)
          : length;
    if (this.#payloadLeft === 0) this.#frameEnded();
  }

  #frameEnded(): void {
    if (this.#isControl) return;
    if (this.#isFinal) {
      this.#messages++;
      this.#storedBytes = 0;
    } else this.#storedBytes += PIECE_BYTES;
    this.#isFragmented = !this.#isFinal;
  }
}

/** Length of the frame head that begins with the first `known` bytes of `head`; 2 until its second byte is there. */
function headBytes(head: Buffer, known: number): number {
  if (known < 2) return 2;
  const length = head[1]! & 0x7f;
  const extended = length === LENGTH_IN_64_BITS ? 8 : length === LENGTH_IN_16_BITS ? 2 : 0;
  return 2 + extended + ((head[1]! & MASKED) === 0 ? 0 : 4);
}
