import { bytesToBigint } from "../primitives/bytes.ts";
import { type Checkpoint, noCheckpoint } from "./checkpoint.ts";

/** Exponents from this many bytes on are worth the 14 multiplications of a window table. */
const WINDOW_EXPONENT_BYTES_MIN = 12;
/**
 * Product of the factors' bit lengths between two checkpoints: about 10 to 20 ms. Numbers below 34 KB are multiplied at once. Those of 100 KB,
 * the maximum that 60 million gas pay for before Osaka, are multiplied in nine parts, about as fast as at once.
 */
const STEP_BITS_SQUARED = 1.2e9 * 64;
/** Below this length, checkpoints after each bit or byte of the exponent suffice: a multiplication takes about 0.1 ms. */
const LONG_BITS = 16_384;
/** Maximum length of a part, however short the modulus: its remainder is computed in one pass. */
const PART_BITS_MAX = 2 ** 23;

/**
 * base^exponent mod modulus, with 0^0 = 1 and everything mod 1 = 0.
 * @param exponent big-endian, leading zeros allowed: reading single bits of a bigint would copy it each time
 * @param modulus not 0
 * @param checkpoint called after each step, of at most about 20 ms for operands up to 100 KB
 */
export function modExp(
  base: bigint,
  exponent: Uint8Array,
  modulus: bigint,
  checkpoint: Checkpoint = noCheckpoint,
): bigint {
  let first = 0;
  while (first < exponent.length && exponent[first] === 0) first++;
  if (first === exponent.length || modulus === 1n) return 1n % modulus;
  const multiply = createMulMod(modulus, checkpoint);
  const reduced = multiply(base, 1n);
  if (reduced <= 1n) return reduced;
  const significant = exponent.subarray(first);
  return significant.length < WINDOW_EXPONENT_BYTES_MIN
    ? modExpBinary(reduced, bytesToBigint(significant), multiply, checkpoint)
    : modExpWindow(reduced, significant, multiply, checkpoint);
}

type MulMod = (a: bigint, b: bigint) => bigint;

/** a·b mod `modulus` for a reduced b; a long a is split into parts with a checkpoint each. */
function createMulMod(modulus: bigint, checkpoint: Checkpoint): MulMod {
  const modulusBits = 4 * modulus.toString(16).length;
  const partBits = Math.min(PART_BITS_MAX, Math.floor(STEP_BITS_SQUARED / modulusBits));
  return (a, b) => {
    if (modulusBits <= partBits && a <= modulus) {
      if (modulusBits > LONG_BITS) checkpoint();
      return (a * b) % modulus;
    }
    let parts = 1;
    while (a >> BigInt(parts * partBits) !== 0n) parts++;
    let result = 0n;
    for (let part = parts - 1; part >= 0; part--) {
      const digits = BigInt.asUintN(partBits, a >> BigInt(part * partBits));
      result = ((result << BigInt(partBits)) + digits * b) % modulus;
      checkpoint();
    }
    return result;
  };
}

/** Right to left, one bit at a time. */
function modExpBinary(base: bigint, exponent: bigint, multiply: MulMod, checkpoint: Checkpoint): bigint {
  let result = 1n;
  let power = base;
  let rest = exponent;
  for (;;) {
    if (rest & 1n) result = multiply(result, power);
    rest >>= 1n;
    if (rest === 0n) return result;
    power = multiply(power, power);
    checkpoint();
  }
}

/** Left to right, four bits at a time: one multiplication by a table entry after four squarings. */
function modExpWindow(base: bigint, exponent: Uint8Array, multiply: MulMod, checkpoint: Checkpoint): bigint {
  const powers = [1n, base];
  for (let i = 2; i < 16; i++) powers.push(multiply(powers[i - 1]!, base));
  let result = 1n;
  const shiftIn = (digit: number) => {
    if (result !== 1n) for (let i = 0; i < 4; i++) result = multiply(result, result);
    if (digit !== 0) result = multiply(result, powers[digit]!);
  };
  for (const byte of exponent) {
    shiftIn(byte >> 4);
    shiftIn(byte & 15);
    checkpoint();
  }
  return result;
}
