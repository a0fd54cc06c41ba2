/** What a double holds beside 29 bits of a key. */
const COUNT_MAX = 2 ** 24;

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

/** The first 29 bits of a key. */
export function keyPrefix(key: Uint8Array): number {
  return key[0]! * 2 ** 21 + ((key[1]! << 13) | (key[2]! << 5) | (key[3]! >> 3));
}
