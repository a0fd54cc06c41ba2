/** The four keys of an interpreter's hash function, each a u64. */
export type Seed = readonly [bigint, bigint, bigint, bigint];

/** Takes the place of the seed in a module that is emitted once and used by many processes. As i64 constants they have the longest form. */
export const TEMPLATE_SEED: Seed = [
  0x6a09_e667_f3bc_c909n,
  0x7c15_9e37_79b9_7f4bn,
  0x4cf5_ad43_2745_937fn,
  0x52dc_e729_94d0_49bbn,
];

/** Bytes of the longest i64 constant. */
const CONSTANT_BYTES = 10;

/** `template`, a module emitted with `TEMPLATE_SEED`, as `seed` would have made it: the same but for the length of its constants. */
export function seededModule(template: Uint8Array, seed: Seed): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(template);
  const buffer = Buffer.from(bytes.buffer);
  for (const [i, key] of TEMPLATE_SEED.entries()) {
    const [old, constant] = [longestForm(key), longestForm(seed[i]!)];
    for (let at = buffer.indexOf(old); at >= 0; at = buffer.indexOf(old, at + CONSTANT_BYTES)) {
      bytes.set(constant, at);
    }
  }
  return bytes;
}

/** Signed LEB128 of the key as the hash function multiplies by it, odd, in ten bytes whatever its value. */
function longestForm(key: bigint): Uint8Array {
  const value = BigInt.asIntN(64, key | 1n);
  const bytes = new Uint8Array(CONSTANT_BYTES);
  for (let i = 0; i < CONSTANT_BYTES; i++) {
    const isLast = i === CONSTANT_BYTES - 1;
    bytes[i] = Number((value >> BigInt(7 * i)) & 0x7fn) | (isLast ? 0 : 0x80);
  }
  return bytes;
}
