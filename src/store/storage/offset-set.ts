/**
 * A set of block offsets inside one chunk of 65,536 blocks, as it is stored: ascending u16
 * little-endian while it has fewer than 4,096 members, a bitset of 8,192 bytes from then on. The two
 * forms are told apart by their length. (The containers of a Roaring bitmap.)
 */
export type OffsetSet = Uint8Array;

/** Offsets a set can hold: 0 to 65,535. */
const OFFSETS_PER_SET = 65_536;
const BITSET_BYTES = OFFSETS_PER_SET / 8;
const LIST_LENGTH_MAX = BITSET_BYTES / 2 - 1;

/** @param offsets ascending, each once */
export function encodeOffsets(offsets: readonly number[]): OffsetSet {
  if (offsets.length > LIST_LENGTH_MAX) {
    const bits = new Uint8Array(BITSET_BYTES);
    for (const offset of offsets) bits[offset >> 3]! |= 1 << (offset & 7);
    return bits;
  }
  const list = new Uint8Array(offsets.length * 2);
  for (let i = 0; i < offsets.length; i++) {
    list[i * 2] = offsets[i]!;
    list[i * 2 + 1] = offsets[i]! >> 8;
  }
  return list;
}

/** Ascending members from `low` to `high`, both included. */
export function offsetsBetween(set: OffsetSet, low: number, high: number): number[] {
  const offsets: number[] = [];
  if (isBitset(set)) {
    for (let byte = low >> 3; byte <= high >> 3; byte++) {
      for (let rest = set[byte]!; rest !== 0; rest &= rest - 1) {
        const offset = byte * 8 + 31 - Math.clz32(rest & -rest);
        if (offset >= low && offset <= high) offsets.push(offset);
      }
    }
    return offsets;
  }
  for (let i = lowerBound(set, low); i * 2 < set.length; i++) {
    const offset = memberAt(set, i);
    if (offset > high) break;
    offsets.push(offset);
  }
  return offsets;
}

export function hasOffset(set: OffsetSet, offset: number): boolean {
  if (isBitset(set)) return ((set[offset >> 3]! >> (offset & 7)) & 1) === 1;
  const i = lowerBound(set, offset);
  return i * 2 < set.length && memberAt(set, i) === offset;
}

export function countOffsets(set: OffsetSet): number {
  if (!isBitset(set)) return set.length / 2;
  let count = 0;
  for (const byte of set) for (let rest = byte; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** `set` with `offsets`, ascending, added; members it has already do no harm. */
export function withOffsets(set: OffsetSet | undefined, offsets: readonly number[]): OffsetSet {
  if (set === undefined || set.length === 0) return encodeOffsets(offsets);
  if (offsets.length === 0) return set;
  if (isBitset(set)) {
    const bits = set.slice();
    for (const offset of offsets) bits[offset >> 3]! |= 1 << (offset & 7);
    return bits;
  }
  const last = memberAt(set, set.length / 2 - 1);
  if (offsets[0]! > last && set.length / 2 + offsets.length <= LIST_LENGTH_MAX) {
    const list = new Uint8Array(set.length + offsets.length * 2);
    list.set(set);
    list.set(encodeOffsets(offsets), set.length);
    return list;
  }
  return unionOffsets([set, encodeOffsets(offsets)]);
}

/** `set` without members above `last`. */
export function offsetsUpTo(set: OffsetSet, last: number): OffsetSet {
  return encodeOffsets(offsetsBetween(set, 0, last));
}

/** `set` without its members below `first`; `set` itself if it has no such member. */
export function offsetsFrom(set: OffsetSet, first: number): OffsetSet {
  if (first === 0 || offsetsBetween(set, 0, first - 1).length === 0) return set;
  return encodeOffsets(offsetsBetween(set, first, OFFSETS_PER_SET - 1));
}

export function unionOffsets(sets: readonly OffsetSet[]): OffsetSet {
  if (sets.length === 1) return sets[0]!;
  const bits = new Uint8Array(BITSET_BYTES);
  for (const set of sets) {
    if (isBitset(set)) for (let i = 0; i < BITSET_BYTES; i++) bits[i]! |= set[i]!;
    else {
      for (let i = 0; i < set.length; i += 2) {
        const offset = set[i]! | (set[i + 1]! << 8);
        bits[offset >> 3]! |= 1 << (offset & 7);
      }
    }
  }
  return isDense(bits) ? bits : encodeOffsets(offsetsBetween(bits, 0, OFFSETS_PER_SET - 1));
}

/** The members common to all `sets` from `low` to `high`, ascending. @param sets at least one */
export function commonOffsets(sets: readonly OffsetSet[], low: number, high: number): number[] {
  let smallest = sets[0]!;
  for (const set of sets) if (set.length < smallest.length) smallest = set;
  let offsets = offsetsBetween(smallest, low, high);
  for (const set of sets) if (set !== smallest) offsets = offsets.filter((offset) => hasOffset(set, offset));
  return offsets;
}

function isBitset(set: OffsetSet): boolean {
  return set.length === BITSET_BYTES;
}

function isDense(bits: Uint8Array): boolean {
  return countOffsets(bits) > LIST_LENGTH_MAX;
}

function memberAt(list: OffsetSet, index: number): number {
  return list[index * 2]! | (list[index * 2 + 1]! << 8);
}

/** Index of the first member that is not below `offset`. */
function lowerBound(list: OffsetSet, offset: number): number {
  let low = 0;
  let high = list.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (memberAt(list, middle) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
