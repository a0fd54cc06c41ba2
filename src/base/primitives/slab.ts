/** Large enough that hundreds of small arrays share the cost of an ArrayBuffer, small enough to be freed soon. */
const SLAB_LENGTH = 65_536;

let slab = new ArrayBuffer(SLAB_LENGTH);
let used = 0;

/**
 * An array of `length` bytes with undefined contents, cut from a shared buffer: for thousands of short arrays. Collecting arrays over 64 bytes
 * with separate buffers took half the time of a trie update (bench/micro/trie.ts). Each keeps 64 KiB alive, so long-lived bytes should not share
 * a buffer with short-lived ones.
 */
export function allocateShared(length: number): Uint8Array {
  if (length > SLAB_LENGTH >> 3) return new Uint8Array(length);
  if (used + length > SLAB_LENGTH) {
    slab = new ArrayBuffer(SLAB_LENGTH);
    used = 0;
  }
  const bytes = new Uint8Array(slab, used, length);
  used += length;
  return bytes;
}

/** A copy of `bytes[start..end)` in a shared buffer. */
export function copyShared(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const copy = allocateShared(end - start);
  if (end - start <= 40) for (let i = 0; i < copy.length; i++) copy[i] = bytes[start + i]!;
  else copy.set(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
  return copy;
}
