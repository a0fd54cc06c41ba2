/**
 * Paths are nibbles, one a byte, most significant first. In a node they are packed in the hex-prefix form
 * of Yellow Paper, appendix C:
 *
 *     first byte = flag ‖ (nibble, if their number is odd), then two nibbles a byte
 *     flag: 0 extension, 2 leaf, +1 if the number of nibbles is odd; an even path has 0 beside the flag
 */

/** Nibble `index` of `key`. */
export function nibbleAt(key: Uint8Array, index: number): number {
  const byte = key[index >> 1]!;
  return (index & 1) === 0 ? byte >> 4 : byte & 15;
}

/** Nibbles of `key` from `start` on. */
export function nibblesOf(key: Uint8Array, start = 0): Uint8Array {
  const nibbles = new Uint8Array(key.length * 2 - start);
  for (let i = 0; i < nibbles.length; i++) nibbles[i] = nibbleAt(key, start + i);
  return nibbles;
}

/** The bytes of an even number of nibbles. */
export function packNibbles(nibbles: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(nibbles.length >> 1);
  for (let i = 0; i < bytes.length; i++) bytes[i] = (nibbles[2 * i]! << 4) | nibbles[2 * i + 1]!;
  return bytes;
}

/** Bytes that `length` nibbles take in hex-prefix form. */
export function hexPrefixLength(length: number): number {
  return 1 + (length >> 1);
}

/** Writes `nibbles` in hex-prefix form at `offset` of `out`; returns where it ends. */
export function writeHexPrefix(
  nibbles: Uint8Array,
  isLeaf: boolean,
  out: Uint8Array,
  offset: number,
): number {
  const flag = isLeaf ? 0x20 : 0;
  let next = 0;
  let at = offset;
  if (nibbles.length % 2 === 1) out[at++] = flag | 0x10 | nibbles[next++]!;
  else out[at++] = flag;
  for (; next < nibbles.length; next += 2) out[at++] = (nibbles[next]! << 4) | nibbles[next + 1]!;
  return at;
}

/** Writes the nibbles of `key` from `depth` on as the path of a leaf at `offset` of `out`; returns where it ends. */
export function writeLeafPath(
  key: Uint8Array,
  depth: number,
  out: Uint8Array,
  offset: number,
): number {
  let at = offset;
  out[at++] = leafPathStart(key, depth);
  for (let i = (depth + 1) >> 1; i < key.length; i++) out[at++] = key[i]!;
  return at;
}

/** True when the nibbles of `key` from `depth` on, as the path of a leaf, are the bytes of `packed` from `offset` to `end`. */
export function isLeafPathOf(
  key: Uint8Array,
  depth: number,
  packed: Uint8Array,
  offset: number,
  end: number,
): boolean {
  let at = offset;
  let i = (depth + 1) >> 1;
  if (end - at !== 1 + key.length - i || packed[at++] !== leafPathStart(key, depth)) return false;
  while (i < key.length) if (packed[at++] !== key[i++]) return false;
  return true;
}

/** First byte of the path of a leaf: its flag, with the first nibble where their number is odd. */
function leafPathStart(key: Uint8Array, depth: number): number {
  return depth % 2 === 0 ? 0x20 : 0x30 | (key[depth >> 1]! & 15);
}

/** Nibbles of a path in hex-prefix form. */
export function readHexPrefix(packed: Uint8Array): Uint8Array {
  const isOdd = (packed[0]! & 0x10) !== 0;
  return nibblesOf(packed, isOdd ? 1 : 2);
}

/** True for the path of a leaf in hex-prefix form. */
export function isLeafPath(packed: Uint8Array): boolean {
  return (packed[0]! & 0x20) !== 0;
}
