import { concatBytes, EMPTY_BYTES } from "../../primitives/bytes.ts";

/**
 * Sparse bytes in few: a bitset of the bytes that are not zero, itself compressed, then those bytes in order. Bytes that do not get
 * shorter stay as they are; bytes that are all zero become none. Sizes are known to the reader, so nothing marks the form.
 */
export function compressBits(bytes: Uint8Array): Uint8Array {
  const compressed = compress(bytes);
  return compressed.length < bytes.length ? compressed : bytes;
}

function compress(bytes: Uint8Array): Uint8Array {
  const bitset = new Uint8Array((bytes.length + 7) >> 3);
  const rest = new Uint8Array(bytes.length);
  let count = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte === 0) continue;
    bitset[i >> 3]! |= 0x80 >> (i & 7);
    rest[count++] = byte;
  }
  if (count === 0) return EMPTY_BYTES;
  if (bytes.length === 1) return bytes;
  return concatBytes(compress(bitset), rest.subarray(0, count));
}
