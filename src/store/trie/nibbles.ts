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
  let to = 0;
  if (start % 2 === 1) nibbles[to++] = key[start >> 1]! & 15;
  for (let i = (start + 1) >> 1; i < key.length; i++) {
    nibbles[to++] = key[i]! >> 4;
    nibbles[to++] = key[i]! & 15;
  }
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
export function writeHexPrefix(nibbles: Uint8Array, isLeaf: boolean, out: Uint8Array, offset: number): number {
  const flag = isLeaf ? 0x20 : 0;
  let next = 0;
  let at = offset;
  if (nibbles.length % 2 === 1) out[at++] = flag | 0x10 | nibbles[next++]!;
  else out[at++] = flag;
  for (; next < nibbles.length; next += 2) out[at++] = (nibbles[next]! << 4) | nibbles[next + 1]!;
  return at;
}

/** True when the nibbles of `key` from `depth` on, as the path of a leaf, are the content of the item `rlp[start..end)`. */
export function isLeafPathOf(key: Uint8Array, depth: number, rlp: Uint8Array, start: number, end: number): boolean {
  const first = rlp[start]!;
  // A path has less than 256 bytes.
  let at = first < 0x80 ? start : first < 0xb8 ? start + 1 : start + 2;
  let i = (depth + 1) >> 1;
  const flag = depth % 2 === 0 ? 0x20 : 0x30 | (key[depth >> 1]! & 15);
  if (end - at !== 1 + key.length - i || rlp[at++] !== flag) return false;
  while (i < key.length) if (rlp[at++] !== key[i++]) return false;
  return true;
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

/** Below this many keys moving one past another is quicker than counting. */
const INSERTION_SORT_MAX = 12;

/** The order that `groupByNibble` sorts: the numbers below `count`. */
export function ascendingNumbers(count: number): Int32Array {
  const order = new Int32Array(count);
  for (let index = 0; index < count; index++) order[index] = index;
  return order;
}

/**
 * Sorts `order[from..to)`, indexes into `keys`, by the nibble at `depth`, keys that end there first: one pass of a radix sort,
 * taken as the trie is descended, so no key is ever compared as a whole.
 */
export function groupByNibble(
  keys: readonly Uint8Array[],
  order: Int32Array,
  from: number,
  to: number,
  depth: number,
): void {
  if (to - from <= INSERTION_SORT_MAX) {
    for (let i = from + 1; i < to; i++) {
      const index = order[i]!;
      const group = groupOf(keys[index]!, depth);
      let at = i;
      for (; at > from && groupOf(keys[order[at - 1]!]!, depth) > group; at--) {
        order[at] = order[at - 1]!;
      }
      order[at] = index;
    }
    return;
  }
  const starts: number[] = new Array(18).fill(0);
  for (let i = from; i < to; i++) starts[groupOf(keys[order[i]!]!, depth) + 1]!++;
  for (let group = 1; group < 18; group++) starts[group]! += starts[group - 1]!;
  const unsorted = order.slice(from, to);
  for (const index of unsorted) {
    const group = groupOf(keys[index]!, depth);
    order[from + starts[group]!++] = index;
  }
}

/** The end of the group of `nibble` that begins at `order[start]`. */
export function groupEnd(
  keys: readonly Uint8Array[],
  order: Int32Array,
  start: number,
  to: number,
  depth: number,
): number {
  let end = start + 1;
  if (end === to) return to;
  const nibble = nibbleAt(keys[order[start]!]!, depth);
  while (end < to && nibbleAt(keys[order[end]!]!, depth) === nibble) end++;
  return end;
}

/** The nibbles from `depth` on that all keys of `order[from..to)` share. */
export function sharedNibbles(
  keys: readonly Uint8Array[],
  order: Int32Array,
  from: number,
  to: number,
  depth: number,
): Uint8Array {
  const first = keys[order[from]!]!;
  let end = first.length * 2;
  for (let i = from + 1; i < to; i++) {
    const key = keys[order[i]!]!;
    let at = depth;
    const limit = Math.min(end, key.length * 2);
    while (at < limit && nibbleAt(key, at) === nibbleAt(first, at)) at++;
    end = at;
  }
  const shared = new Uint8Array(end - depth);
  for (let i = 0; i < shared.length; i++) shared[i] = nibbleAt(first, depth + i);
  return shared;
}

function groupOf(key: Uint8Array, depth: number): number {
  return depth === key.length * 2 ? 0 : 1 + nibbleAt(key, depth);
}
