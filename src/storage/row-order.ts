/** What a double holds beside 29 bits of a key. */
const COUNT_MAX = 2 ** 24;
/** Value of a byte before 21 bits. A power in a loop is computed each time. */
const FIRST_BYTE = 2 ** 21;

/**
 * The numbers below `count` in the order of the first 29 bits of their keys, which `prefixOf` gives: near enough for a B-tree, and ten
 * times quicker than comparing keys. More than 2^24 are left as they are.
 */
export function byPrefix(count: number, prefixOf: (index: number) => number): Float64Array {
  const order = new Float64Array(count);
  const isSorted = count <= COUNT_MAX;
  for (let i = 0; i < count; i++) order[i] = isSorted ? prefixOf(i) * COUNT_MAX + i : i;
  if (!isSorted) return order;
  order.sort();
  for (let i = 0; i < count; i++) order[i] = order[i]! % COUNT_MAX;
  return order;
}

/** 29 bits of a key from byte `offset` on. */
export function keyPrefix(key: Uint8Array, offset = 0): number {
  const rest = (key[offset + 1]! << 13) | (key[offset + 2]! << 5) | (key[offset + 3]! >> 3);
  return key[offset]! * FIRST_BYTE + rest;
}

/** Bytes at the end of a key that keys with the same beginning differ in: the slots of an account. */
const TAIL_LENGTH = 32;

/**
 * As `byPrefix`; keys of more than 32 bytes that begin alike are in the order of the first 29 of their last 32 bytes.
 * @param prefixAt 29 bits of a key from byte `offset` on
 */
export function rowOrder(
  count: number,
  keyLength: number,
  prefixAt: (index: number, offset: number) => number,
): Float64Array {
  const tail = keyLength - TAIL_LENGTH;
  if (tail <= 0) return byPrefix(count, (i) => prefixAt(i, 0));
  const byTail = byPrefix(count, (i) => prefixAt(i, tail));
  // Equal ones stay in the order they come in.
  return byPrefix(count, (i) => prefixAt(byTail[i]!, 0)).map((i) => byTail[i]!);
}

/** `items` in the order of their keys, which have the same length; near enough for a B-tree. */
export function inRowOrder<T>(items: readonly T[], keyOf: (item: T) => Uint8Array): readonly T[] {
  if (items.length < 2) return items;
  const length = keyOf(items[0]!).length;
  const order = rowOrder(items.length, length, (i, offset) => keyPrefix(keyOf(items[i]!), offset));
  return Array.from(order, (index) => items[index]!);
}

/**
 * The numbers from `from` to `to` in the order of their keys: key number n is `keys[n * length..(n + 1) * length)`.
 */
export function byKey(keys: Uint8Array, length: number, from: number, to: number): Float64Array {
  const order = byPrefix(to - from, (i) => {
    const at = (from + i) * length;
    return (
      keys[at]! * FIRST_BYTE + ((keys[at + 1]! << 13) | (keys[at + 2]! << 5) | (keys[at + 3]! >> 3))
    );
  });
  for (let i = 0; i < order.length; i++) order[i] = order[i]! + from;
  if (to - from > COUNT_MAX) {
    return order.sort((a, b) => compareKeys(keys, length, a, b));
  }
  // Few of them begin with the same 29 bits.
  for (let i = 1; i < order.length; i++) {
    const index = order[i]!;
    let at = i;
    for (; at > 0 && compareKeys(keys, length, order[at - 1]!, index) > 0; at--) {
      order[at] = order[at - 1]!;
    }
    order[at] = index;
  }
  return order;
}

function compareKeys(keys: Uint8Array, length: number, a: number, b: number): number {
  const [left, right] = [a * length, b * length];
  for (let i = 0; i < length; i++) {
    const difference = keys[left + i]! - keys[right + i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}
