/** Decoded in half a millisecond where each letter has several bytes; those of ASCII take a tenth. */
const BYTES_PER_STEP = 128 << 10;

/** The text of the first `end` bytes of `body`, which is UTF-8. */
export function* textInSteps(body: Buffer, end: number): Generator<undefined, string> {
  let text = "";
  for (let start = 0; start < end; ) {
    let next = Math.min(end, start + BYTES_PER_STEP);
    // Back to the first byte of a letter, which has three more at most.
    for (let back = 0; back < 3 && next < end && (body[next]! & 0xc0) === 0x80; back++) next--;
    text += body.toString("utf8", start, next);
    start = next;
    if (start < end) yield;
  }
  return text;
}

/** Encoded in some tenths of a millisecond. */
export const CHARS_PER_STEP = 256 << 10;

/** The UTF-8 of `text`, in pieces. */
export function* bytesInSteps(text: string): Generator<undefined, readonly Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < text.length; ) {
    let next = Math.min(text.length, start + CHARS_PER_STEP);
    // The halves of a letter stay together.
    if (next < text.length && (text.charCodeAt(next - 1) & 0xfc00) === 0xd800) next--;
    pieces.push(Buffer.from(text.slice(start, next)));
    start = next;
    if (start < text.length) yield;
  }
  return pieces;
}
