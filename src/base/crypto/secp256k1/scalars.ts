export const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The endomorphism (x, y) → (BETA·x, y) multiplies by LAMBDA: both are cube roots of 1. */
export const BETA = 0x7ae96a2b657c07106e64479eac3434e99cf0497512f58995c1396c28719501een;
export const LAMBDA = 0x5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72n;

/** Short vectors (A1, −B1) and (A2, A1) of the lattice of all (a, b) with a + b·LAMBDA = 0 modulo n. */
const A1 = 0x3086d221a7d46bcde86c90e49284eb15n;
const B1 = 0xe4437ed6010e88286f547fa90abfe4c3n;
const A2 = 0x114ca50f7a8e2f3f657c1108d9d44cfd8n;
/** 2^384 · A1 / n and 2^384 · B1 / n, rounded: a division by n becomes a shift. */
const PRECISION = 384n;
const G1 = ((A1 << PRECISION) + ORDER / 2n) / ORDER;
const G2 = ((B1 << PRECISION) + ORDER / 2n) / ORDER;
const HALF = 1n << (PRECISION - 1n);

/** a and b, each below 2^128 in absolute value, with scalar = a + b·LAMBDA modulo n (Gallant, Lambert and Vanstone). */
export function splitScalar(scalar: bigint): readonly [bigint, bigint] {
  const c1 = (scalar * G1 + HALF) >> PRECISION;
  const c2 = (scalar * G2 + HALF) >> PRECISION;
  return [scalar - c1 * A1 - c2 * A2, c1 * B1 - c2 * A1];
}

/** Positions that a digit of a number below 2^128 can have. */
export const DIGIT_COUNT = 129;
/** Bits of a window: digits are odd, below 2^4 in absolute value. */
const WINDOW = 5;

const words = new Uint32Array(4);
const longWords = new BigUint64Array(words.buffer);

/** Writes the width-5 non-adjacent form of `value`, lowest digit first; |value| < 2^128. */
export function writeDigits(digits: Int8Array, value: bigint): void {
  const isNegative = value < 0n;
  const magnitude = isNegative ? -value : value;
  longWords[0] = magnitude;
  longWords[1] = magnitude >> 64n;
  digits.fill(0);
  let carry = 0;
  for (let position = 0; position < DIGIT_COUNT; ) {
    if ((bitsAt(position) & 1) === carry) {
      position++;
      continue;
    }
    const bits = (bitsAt(position) & (2 ** WINDOW - 1)) + carry;
    carry = bits >> (WINDOW - 1);
    const digit = bits - (carry << WINDOW);
    digits[position] = isNegative ? -digit : digit;
    position += WINDOW;
  }
}

/** At least five bits from `position` on. */
function bitsAt(position: number): number {
  const index = position >> 5;
  const shift = position & 31;
  const low = (words[index] ?? 0) >>> shift;
  return shift === 0 ? low : low | ((words[index + 1] ?? 0) << (32 - shift));
}
