import { bytesToBigint } from "../../primitives/bytes.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { isBelow } from "../mcl.ts";

/** BLS_MODULUS, the order r of BLS12-381's groups: blobs are vectors of integers below it (EIP-4844). */
export const SCALAR_ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
export const SCALAR_LENGTH = 32;

const ORDER_BYTES = hexToBytes(`0x${SCALAR_ORDER.toString(16)}`);
/** PRIMITIVE_ROOT_OF_UNITY of the specification: generates the whole multiplicative group. */
const GENERATOR = 7n;

/** Least non-negative residue. */
export function reduce(value: bigint): bigint {
  const rest = value % SCALAR_ORDER;
  return rest < 0n ? rest + SCALAR_ORDER : rest;
}

export function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % SCALAR_ORDER;
    square = (square * square) % SCALAR_ORDER;
  }
  return result;
}

/** Of a value that is not 0. */
export function invert(value: bigint): bigint {
  return power(value, SCALAR_ORDER - 2n);
}

/** Inverses of values of which none is 0, at the cost of one inversion and three multiplications each (Montgomery's trick). */
export function invertAll(values: readonly bigint[]): bigint[] {
  const inverses: bigint[] = [];
  let product = 1n;
  for (const value of values) {
    inverses.push(product);
    product = (product * value) % SCALAR_ORDER;
  }
  let inverse = invert(product);
  for (let i = values.length - 1; i >= 0; i--) {
    inverses[i] = (inverses[i]! * inverse) % SCALAR_ORDER;
    inverse = (inverse * values[i]!) % SCALAR_ORDER;
  }
  return inverses;
}

/** True when the 32 bytes of `bytes` at `offset` are a canonical scalar: below the order. */
export function isCanonicalScalar(bytes: Uint8Array, offset: number): boolean {
  return isBelow(bytes, offset, ORDER_BYTES);
}

/** The scalars that `bytes` are, 32 bytes each, or undefined when one is not canonical. */
export function decodeScalars(bytes: Uint8Array): bigint[] | undefined {
  const scalars: bigint[] = [];
  for (let at = 0; at < bytes.length; at += SCALAR_LENGTH) {
    if (!isCanonicalScalar(bytes, at)) return undefined;
    scalars.push(bytesToBigint(bytes.subarray(at, at + SCALAR_LENGTH)));
  }
  return scalars;
}

const rootsByOrder = new Map<number, readonly bigint[]>();

/** 1, ω, ω², … for the primitive root of unity ω of that order, a power of two. */
export function rootsOfUnity(order: number): readonly bigint[] {
  const known = rootsByOrder.get(order);
  if (known) return known;
  const root = power(GENERATOR, (SCALAR_ORDER - 1n) / BigInt(order));
  const roots = [1n];
  for (let i = 1; i < order; i++) roots.push((roots[i - 1]! * root) % SCALAR_ORDER);
  rootsByOrder.set(order, roots);
  return roots;
}
