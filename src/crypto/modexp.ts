import { bytesToBigint } from "../primitives/bytes.ts";
import { type Checkpoint, noCheckpoint } from "./checkpoint.ts";

/** Exponents from this many bytes on are worth the 14 multiplications of a window table. */
const WINDOW_EXPONENT_BYTES_MIN = 12;

/**
 * base^exponent mod modulus, with 0^0 = 1 and everything mod 1 = 0.
 * @param exponent big-endian, leading zeros allowed: a bigint of its size could only be read bit by bit by copying it
 * @param modulus not 0
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
  const reduced = base % modulus;
  if (reduced <= 1n) return reduced;
  const significant = exponent.subarray(first);
  return significant.length < WINDOW_EXPONENT_BYTES_MIN
    ? modExpBinary(reduced, bytesToBigint(significant), modulus, checkpoint)
    : modExpWindow(reduced, significant, modulus, checkpoint);
}

/** Right to left, a bit at a time. */
function modExpBinary(
  base: bigint,
  exponent: bigint,
  modulus: bigint,
  checkpoint: Checkpoint,
): bigint {
  let result = 1n;
  let power = base;
  let rest = exponent;
  for (;;) {
    if (rest & 1n) result = (result * power) % modulus;
    rest >>= 1n;
    if (rest === 0n) return result;
    power = (power * power) % modulus;
    checkpoint();
  }
}

/** Left to right, four bits at a time: one multiplication by a table entry after four squarings. */
function modExpWindow(
  base: bigint,
  exponent: Uint8Array,
  modulus: bigint,
  checkpoint: Checkpoint,
): bigint {
  const powers = [1n, base];
  for (let i = 2; i < 16; i++) powers.push((powers[i - 1]! * base) % modulus);
  let result = 1n;
  const shiftIn = (digit: number) => {
    if (result !== 1n) {
      result = (result * result) % modulus;
      result = (result * result) % modulus;
      result = (result * result) % modulus;
      result = (result * result) % modulus;
    }
    if (digit !== 0) result = (result * powers[digit]!) % modulus;
  };
  for (const byte of exponent) {
    shiftIn(byte >> 4);
    shiftIn(byte & 15);
    checkpoint();
  }
  return result;
}
