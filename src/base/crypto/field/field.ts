import { i32, i64, type Local, type Operand } from "../../wasm/code.ts";
import type { FunctionBuilder, FunctionRef } from "../../wasm/function.ts";
import type { ModuleBuilder } from "../../wasm/module.ts";
import { type Combine, defineLinear, defineSums, minus, plus } from "./linear.ts";
import { type FieldShape, LIMB_BITS, limbsOf, LIMB_MASK as MASK } from "./shape.ts";

const BITS = BigInt(LIMB_BITS);

/**
 * Arithmetic of a field or of an extension as functions over addresses of elements. The result goes to the first address,
 * which may be that of an operand.
 */
export type FieldFunctions = {
  /** Bytes of an element. */
  readonly size: number;
  readonly mul: FunctionRef;
  readonly sqr: FunctionRef;
  readonly add: FunctionRef;
  readonly sub: FunctionRef;
  /** Sums of more than two terms, or with factors */
  readonly sum: Combine;
  /** isZero(a): 1 for 0 */
  readonly isZero: FunctionRef;
};

/** Functions of the prime field, and `reduce(to, a)`, which brings an element below p. */
export function defineField(
  module: ModuleBuilder,
  shape: FieldShape,
): FieldFunctions & { readonly reduce: FunctionRef } {
  const { modulus, limbs, size } = shape;
  return {
    size,
    mul: defineMultiply(module, shape),
    sqr: defineSquare(module, shape),
    add: defineLinear(module, shape, 2, [[plus(0), plus(1)]]),
    sub: defineLinear(module, shape, 2, [[plus(0), minus(1)]]),
    sum: defineSums(module, shape, 1),
    isZero: module.define(["i32"], ["i32"], (f, a) => {
      const bits = (other: readonly bigint[]) =>
        indexes(limbs)
          .map((i): Operand => i64.xor(i64.load(a!, 8 * i), other[i]!))
          .reduce((x, y) => i64.or(x, y));
      const zero = limbsOf(0n, limbs);
      f.return(i32.or(i64.eqz(bits(zero)), i64.eqz(bits(limbsOf(modulus, limbs)))));
    }),
    reduce: module.define(["i32", "i32"], [], (f, to, a) => {
      const value = loadLimbs(f, shape, a!);
      storeReduced(f, to!, value, limbsOf(modulus, limbs));
    }),
  };
}

function defineMultiply(module: ModuleBuilder, shape: FieldShape): FunctionRef {
  return module.define(["i32", "i32", "i32"], [], (f, to, a, b) => {
    storeProduct(f, shape, to!, loadLimbs(f, shape, a!), loadLimbs(f, shape, b!));
  });
}

export function loadLimbs(f: FunctionBuilder, { limbs }: FieldShape, address: Operand): Local[] {
  return indexes(limbs).map((i) => f.i64(i64.load(address, 8 * i)));
}

/** Stores x·y + u·v at `to`: two products with the reduction of one. */
export function storeSumOfProducts(
  f: FunctionBuilder,
  shape: FieldShape,
  to: Operand,
  [x, y]: readonly [readonly Local[], readonly Local[]],
  [u, v]: readonly [readonly Local[], readonly Local[]],
): void {
  const high = f.i64(0n);
  reduceColumns(f, shape, to, (column) => {
    const all = pairs(column, shape.limbs);
    if (all.length === 0) return [high];
    const first = f.i64(sum([high, ...all.map(([i, j]) => i64.mul(x[i]!, y[j]!))]));
    f.set(high, i64.shrU(first, BITS));
    return [i64.and(first, MASK), ...all.map(([i, j]) => i64.mul(u[i]!, v[j]!))];
  });
}

/** Stores x·y at `to`; both may be up to 4p where R exceeds 16p. */
export function storeProduct(
  f: FunctionBuilder,
  shape: FieldShape,
  to: Operand,
  x: readonly Local[],
  y: readonly Local[],
): void {
  reduceColumns(f, shape, to, (column) => pairs(column, shape.limbs).map(([i, j]) => i64.mul(x[i]!, y[j]!)));
}

/** `limbs` with carries taken; the number they form is not negative. */
export function carried(f: FunctionBuilder, limbs: readonly Operand[]): Local[] {
  const carry = f.i64(0n);
  return limbs.map((value) => {
    const limb = f.i64(i64.add(value, carry));
    f.set(carry, i64.shrS(limb, BITS));
    f.set(limb, i64.and(limb, MASK));
    return limb;
  });
}

function defineSquare(module: ModuleBuilder, shape: FieldShape): FunctionRef {
  return module.define(["i32", "i32"], [], (f, to, a) => {
    const x = loadLimbs(f, shape, a!);
    reduceColumns(f, shape, to!, (column) => {
      const all = pairs(column, shape.limbs);
      const mixed = all.filter(([i, j]) => i < j).map(([i, j]) => i64.mul(x[i]!, x[j]!));
      const own = all.filter(([i, j]) => i === j).map(([i]) => i64.mul(x[i]!, x[i]!));
      return mixed.length > 0 ? [i64.shl(sum(mixed), 1n), ...own] : own;
    });
  });
}

/**
 * Montgomery reduction by columns (product scanning) of the number whose column n is the sum of `products(n)`: each column is summed completely
 * before its carry is taken.
 */
function reduceColumns(
  f: FunctionBuilder,
  { modulus, limbs }: FieldShape,
  to: Operand,
  products: (column: number) => readonly Operand[],
): void {
  const factor = negatedInverse(modulus);
  // With p ≡ −1 the quotient is the limb itself and p·q = (p + 1)·q − q: subtracting q clears the limb.
  const clearsItself = factor === 1n;
  const multiplier = limbsOf(clearsItself ? modulus + 1n : modulus, limbs);
  const quotients: Local[] = [];
  const carry = f.i64(0n);
  for (let column = 0; column < 2 * limbs; column++) {
    // Together, both kinds of products could exceed 64 bits, so the high part of the first is set aside.
    const own = f.i64(sum([carry, ...products(column)]));
    const multiples = pairs(column, limbs)
      .filter(([i, j]) => i < quotients.length && multiplier[j] !== 0n)
      .map(([i, j]) => timesConstant(quotients[i]!, multiplier[j]!));
    const rest = f.i64(sum([i64.and(own, MASK), ...multiples]));
    f.set(carry, i64.shrU(own, BITS));
    if (column < limbs) {
      const quotient = f.i64(i64.and(timesConstant(rest, factor), MASK));
      quotients.push(quotient);
      if (!clearsItself) f.set(rest, i64.add(rest, i64.mul(quotient, multiplier[0]!)));
    } else {
      f.do(i64.store(to, i64.and(rest, MASK), 8 * (column - limbs)));
    }
    f.set(carry, i64.add(carry, i64.shrU(rest, BITS)));
  }
}

/** `value` · `constant`, which is not 0; a shift for a power of two. */
function timesConstant(value: Local, constant: bigint): Operand {
  if (constant === 1n) return value;
  const isPowerOfTwo = (constant & (constant - 1n)) === 0n;
  if (!isPowerOfTwo) return i64.mul(value, constant);
  return i64.shl(value, BigInt(constant.toString(2).length - 1));
}

/** −p⁻¹ mod 2^30: multiplied by the low limb of a column, it gives the multiple of p that clears the limb. */
function negatedInverse(modulus: bigint): bigint {
  let inverse = 1n;
  for (let i = 0; i < 5; i++) inverse = (inverse * (2n - modulus * inverse)) & MASK;
  return -inverse & MASK;
}

/** Stores `value`, less `limit` unless it is below it. */
function storeReduced(f: FunctionBuilder, to: Operand, value: readonly Local[], limit: readonly bigint[]): void {
  const borrow = f.i64(0n);
  const reduced = value.map((limb, i) => {
    const difference = f.i64(i64.sub(i64.add(limb, borrow), limit[i]!));
    f.set(borrow, i64.shrS(difference, BITS));
    return difference;
  });
  const isBelow = f.i32(i64.ltS(borrow, 0n));
  value.forEach((limb, i) => {
    f.do(i64.store(to, i64.select(isBelow, limb, i64.and(reduced[i]!, MASK)), 8 * i));
  });
}

function pairs(column: number, limbs: number): [number, number][] {
  return indexes(limbs)
    .map((i): [number, number] => [i, column - i])
    .filter(([, j]) => j >= 0 && j < limbs);
}

function sum(values: readonly Operand[]): Operand {
  return values.reduce((total, value) => i64.add(total, value));
}

function indexes(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
