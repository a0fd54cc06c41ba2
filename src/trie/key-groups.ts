import { nibbleAt } from "./nibbles.ts";

/** Below this many keys moving one past another is quicker than counting. */
const INSERTION_SORT_MAX = 12;

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
  const nibble = nibbleAt(keys[order[start]!]!, depth);
  let end = start + 1;
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
