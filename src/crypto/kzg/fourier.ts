import { invert, rootsOfUnity, SCALAR_ORDER } from "./scalar.ts";

/** `index` below `length`, a power of two, with its bits in reverse order. */
export function reverseBits(index: number, length: number): number {
  let reversed = 0;
  for (let bit = 1, rest = index; bit < length; bit <<= 1, rest >>= 1) {
    reversed = (reversed << 1) | (rest & 1);
  }
  return reversed;
}

/** A copy of `values` in bit-reversed order, the order blobs and cells are in. */
export function bitReversed<T>(values: readonly T[]): T[] {
  return values.map((_, index) => values[reverseBits(index, values.length)]!);
}

/** What a transform does with the vector it works on; elements are named by their index. */
export type Butterflies = {
  readonly length: number;
  swap(a: number, b: number): void;
  /** (a, b) becomes (a + root·b, a − root·b). */
  butterfly(a: number, b: number, root: bigint): void;
};

/**
 * Discrete Fourier transform in place, natural order in and out: coefficients become values at the roots of unity.
 * With `inverse` the way back, but for the division by the length.
 */
export function transform({ length, swap, butterfly }: Butterflies, inverse: boolean): void {
  const roots = rootsOfUnity(length);
  for (let i = 0; i < length; i++) {
    const j = reverseBits(i, length);
    if (i < j) swap(i, j);
  }
  for (let half = 1; half < length; half *= 2) {
    const stride = length / (2 * half);
    for (let start = 0; start < length; start += 2 * half) {
      for (let k = 0; k < half; k++) {
        const exponent = inverse ? (length - k * stride) % length : k * stride;
        butterfly(start + k, start + k + half, roots[exponent]!);
      }
    }
  }
}

/** Values at 1, ω, ω², … of the polynomial with these coefficients; as many as there are coefficients, a power of two. */
export function evaluateAtRoots(coefficients: readonly bigint[]): bigint[] {
  const values = [...coefficients];
  transform(onScalars(values), false);
  return values;
}

/** Coefficients of the polynomial that takes these values at 1, ω, ω², … */
export function interpolateAtRoots(values: readonly bigint[]): bigint[] {
  const coefficients = [...values];
  transform(onScalars(coefficients), true);
  const scale = invert(BigInt(values.length));
  return coefficients.map((coefficient) => (coefficient * scale) % SCALAR_ORDER);
}

function onScalars(values: bigint[]): Butterflies {
  return {
    length: values.length,
    swap(a, b) {
      const kept = values[a]!;
      values[a] = values[b]!;
      values[b] = kept;
    },
    butterfly(a, b, root) {
      const left = values[a]!;
      const right = (values[b]! * root) % SCALAR_ORDER;
      const sum = left + right;
      values[a] = sum >= SCALAR_ORDER ? sum - SCALAR_ORDER : sum;
      values[b] = left >= right ? left - right : left - right + SCALAR_ORDER;
    },
  };
}
