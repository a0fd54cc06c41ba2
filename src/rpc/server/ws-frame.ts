/** RFC 6455 section 5.2: the last fragment of a text message, which is the first too. */
const FIN_TEXT = 0x81;
const LENGTH_IN_16_BITS = 126;
const LENGTH_IN_64_BITS = 127;

/**
 * What stands before a text of `length` bytes in an unmasked frame of its own, one character for each byte: a string, because an
 * ASCII text behind it, written with it as `latin1`, goes to the system without a copy on our side.
 * @see https://www.rfc-editor.org/rfc/rfc6455#section-5.2
 */
export function textFrameHead(length: number): string {
  const { fromCharCode } = String;
  if (length < LENGTH_IN_16_BITS) return fromCharCode(FIN_TEXT, length);
  if (length < 0x10000) {
    return fromCharCode(FIN_TEXT, LENGTH_IN_16_BITS, length >>> 8, length & 0xff);
  }
  // No string has 2^32 characters.
  const low = [length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff];
  return fromCharCode(FIN_TEXT, LENGTH_IN_64_BITS, 0, 0, 0, 0, ...low);
}
