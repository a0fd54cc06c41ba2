import { bytesToBigint } from "../../primitives/bytes.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { isBelow } from "../mcl.ts";
import { invertModulo, powerModulo } from "../modular.ts";

/** BLS_MODULUS, the order r of BLS12-381's groups: blobs are vectors of integers below it (EIP-4844). */
export const SCALAR_ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
export const SCALAR_LENGTH = 32;

const ORDER_BYTES = hexToBytes(`0x${SCALAR_ORDER.toString(16)}`);
/** PRIMITIVE_ROOT_OF_UNITY of the specification: generates the whole multiplicative group. */
const GENERATOR = 7n;

/** Smallest non-negative residue. */
export function reduce(value: bigint): bigint {
  const rest = value % SCALAR_ORDER;
  return rest < 0n ? rest + SCALAR_ORDER : rest;
}

/** Whether the 32 bytes of `bytes` at `offset` are a canonical scalar: below the order. */
export function isCanonicalScalar(bytes: Uint8Array, offset: number): boolean {
  return isBelow(bytes, offset, ORDER_BYTES);
}

/** The scalars encoded in `bytes`, 32 bytes each; undefined if one is not canonical. */
export function decodeScalars(bytes: Uint8Array): bigint[] | undefined {
  const scalars: bigint[] = [];
  for (let at = 0; at < bytes.length; at += SCALAR_LENGTH) {
    if (!isCanonicalScalar(bytes, at)) return undefined;
    scalars.push(bytesToBigint(bytes.subarray(at, at + SCALAR_LENGTH)));
  }
  return scalars;
}

const rootsByOrder = new Map<number, readonly bigint[]>();

/** 1, ω, ω², … for the primitive root of unity ω of this order, a power of two. */
export function rootsOfUnity(order: number): readonly bigint[] {
  const known = rootsByOrder.get(order);
  if (known) return known;
  const root = powerModulo(GENERATOR, (SCALAR_ORDER - 1n) / BigInt(order), SCALAR_ORDER);
  const roots = [1n];
  for (let i = 1; i < order; i++) roots.push((roots[i - 1]! * root) % SCALAR_ORDER);
  rootsByOrder.set(order, roots);
  return roots;
}

/** `index` below `length`, a power of two, with its bits in reverse order. */
export function reverseBits(index: number, length: number): number {
  let reversed = 0;
  for (let bit = 1, rest = index; bit < length; bit <<= 1, rest >>= 1) {
    reversed = (reversed << 1) | (rest & 1);
  }
  return reversed;
}

/** A copy of `values` in bit-reversed order, the order of blobs and cells. */
export function bitReversed<T>(values: readonly T[]): T[] {
  return values.map((_, index) => values[reverseBits(index, values.length)]!);
}

/** Operations of a transform on its vector, whose elements are named by index. */
export type Butterflies = {
  readonly length: number;
  swap(a: number, b: number): void;
  /** (a, b) becomes (a + root·b, a − root·b). */
  butterfly(a: number, b: number, root: bigint): void;
};

/**
 * Discrete Fourier transform in place, in natural order: coefficients become values at the roots of unity. With `inverse` it is the inverse
 * transform, without the division by the length.
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

/** Values at 1, ω, ω², … of the polynomial with these coefficients, whose number is a power of two. */
export function evaluateAtRoots(coefficients: readonly bigint[]): bigint[] {
  const values = [...coefficients];
  transform(onScalars(values), false);
  return values;
}

/** Coefficients of the polynomial that takes these values at 1, ω, ω², … */
export function interpolateAtRoots(values: readonly bigint[]): bigint[] {
  const coefficients = [...values];
  transform(onScalars(coefficients), true);
  const scale = invertModulo(BigInt(values.length), SCALAR_ORDER);
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
