import { invariant } from "../../errors.ts";
import { i32, i64, memory, type Operand } from "../../wasm/code.ts";
import { call, type FunctionRef } from "../../wasm/function.ts";
import type { ModuleBuilder } from "../../wasm/module.ts";
import {
  carried,
  type defineField,
  type FieldFunctions,
  type FieldShape,
  limbsOf,
  loadLimbs,
  storeProduct,
  storeSumOfProducts,
} from "./field.ts";

/**
 * The extension of degree 12 over a quadratic extension Fp2, in which ξ is neither a square nor a cube:
 *
 *     Fp6  = Fp2[v] / (v³ − ξ)     c0, c1, c2 in a row for c0 + c1·v + c2·v²
 *     Fp12 = Fp6[w] / (w² − v)     c0, c1 in a row for c0 + c1·w
 *
 * Results may go to an operand's address.
 */
export type TowerFunctions = {
  /** mul6(to, a, b) in Fp6 */
  readonly mul6: FunctionRef;
  /** mulByV(to, a): a·v in Fp6 */
  readonly mulByV: FunctionRef;
  readonly sub6: FunctionRef;
  /** mul12(to, a, b) in Fp12 */
  readonly mul12: FunctionRef;
  readonly sqr12: FunctionRef;
  /** mulByLine(f, line): f times c0 + c1·v + c2·v·w, with c0, c1, c2 of Fp2 in a row at `line` */
  readonly mulByLine: FunctionRef;
  /** cyclotomicSqr(to, a): a² for a of the cyclotomic subgroup (Granger and Scott, "Faster squaring in the cyclotomic subgroup", 2009) */
  readonly cyclotomicSqr: FunctionRef;
};

/** Elements of Fp2 that the functions need as scratch memory. */
export const TOWER_SCRATCH = 20;

/**
 * One function, since what it emits calls each other and shares the scratch elements, which are numbered in it.
 * @param mulByXi mulByXi(to, a): a·ξ in Fp2
 * @param scratch address of TOWER_SCRATCH elements of Fp2
 */
export function defineTower(
  module: ModuleBuilder,
  fp2: FieldFunctions,
  mulByXi: FunctionRef,
  scratch: number,
): TowerFunctions {
  const { size } = fp2;
  const size6 = 3 * size;
  const at = (n: number) => scratch + n * size;
  const nth = (a: Operand, n: number) => (n === 0 ? a : i32.add(a, n * size));
  const upper = (a: Operand) => i32.add(a, size6);
  const mul = (to: Operand, a: Operand, b: Operand) => call(fp2.mul, to, a, b);
  const sqr = (to: Operand, a: Operand) => call(fp2.sqr, to, a);
  const add = (to: Operand, a: Operand, b: Operand) => call(fp2.add, to, a, b);
  const sub = (to: Operand, a: Operand, b: Operand) => call(fp2.sub, to, a, b);
  const xi = (to: Operand, a: Operand) => call(mulByXi, to, a);

  const componentwise = (operation: FunctionRef) =>
    module.define(["i32", "i32", "i32"], [], (f, to, a, b) => {
      for (let n = 0; n < 3; n++) f.do(call(operation, nth(to!, n), nth(a!, n), nth(b!, n)));
    });
  const add6 = componentwise(fp2.add);
  const sub6 = componentwise(fp2.sub);

  // Scratch 0 to 7 belongs to multiplications in Fp6, 8 on to those in Fp12.
  const [v0, v1, v2, s, t, r0, r1] = [0, 1, 2, 3, 4, 5, 6].map(at) as [
    ...[number, number, number, number],
    ...[number, number, number],
  ];
  const mul6 = module.define(["i32", "i32", "i32"], [], (f, to, a, b) => {
    const crossed = (result: number, i: number, j: number, x: number, y: number) => [
      add(s, nth(a!, i), nth(a!, j)),
      add(t, nth(b!, i), nth(b!, j)),
      mul(result, s, t),
      sub(result, result, x),
      sub(result, result, y),
    ];
    f.do(
      mul(v0, a!, b!),
      mul(v1, nth(a!, 1), nth(b!, 1)),
      mul(v2, nth(a!, 2), nth(b!, 2)),
      ...crossed(r0, 1, 2, v1, v2),
      xi(r0, r0),
      add(r0, r0, v0),
      ...crossed(r1, 0, 1, v0, v1),
      ...crossed(s, 0, 2, v0, v2),
      add(nth(to!, 2), s, v1),
      xi(t, v2),
      add(nth(to!, 1), r1, t),
      memory.copy(to!, r0, size),
    );
  });
  const mulByV = module.define(["i32", "i32"], [], (f, to, a) => {
    f.do(xi(s, nth(a!, 2)), memory.copy(nth(to!, 1), a!, 2 * size), memory.copy(to!, s, size));
  });
  /** mulBy01(to, a, b): a·(b0 + b1·v) */
  const mulBy01 = module.define(["i32", "i32", "i32"], [], (f, to, a, b) => {
    f.do(
      mul(v0, a!, b!),
      mul(v1, nth(a!, 1), nth(b!, 1)),
      mul(r0, nth(a!, 2), nth(b!, 1)),
      xi(r0, r0),
      add(r0, r0, v0),
      add(s, a!, nth(a!, 1)),
      add(t, b!, nth(b!, 1)),
      mul(r1, s, t),
      sub(r1, r1, v0),
      sub(r1, r1, v1),
      mul(s, nth(a!, 2), b!),
      add(nth(to!, 2), s, v1),
      memory.copy(nth(to!, 1), r1, size),
      memory.copy(to!, r0, size),
    );
  });
  /** mulBy1(to, a, b): a·b·v for b of Fp2 */
  const mulBy1 = module.define(["i32", "i32", "i32"], [], (f, to, a, b) => {
    f.do(mul(r0, nth(a!, 2), b!), mul(nth(to!, 2), nth(a!, 1), b!), mul(nth(to!, 1), a!, b!), xi(to!, r0));
  });

  const [x, y, u, w] = [at(8), at(11), at(14), at(17)];
  /** to = (x + v·y) + (u − x − y)·w, the end of a multiplication by Karatsuba's method */
  const combine = (to: Operand) => [
    call(sub6, u, u, x),
    call(sub6, upper(to), u, y),
    call(mulByV, y, y),
    call(add6, to, x, y),
  ];
  const mul12 = module.define(["i32", "i32", "i32"], [], (f, to, a, b) => {
    f.do(
      call(mul6, x, a!, b!),
      call(mul6, y, upper(a!), upper(b!)),
      call(add6, u, a!, upper(a!)),
      call(add6, w, b!, upper(b!)),
      call(mul6, u, u, w),
      ...combine(to!),
    );
  });
  const mulByLine = module.define(["i32", "i32"], [], (f, a, line) => {
    f.do(
      call(mulBy01, x, a!, line!),
      call(mulBy1, y, upper(a!), nth(line!, 2)),
      call(add6, u, a!, upper(a!)),
      memory.copy(w, line!, size),
      add(w + size, nth(line!, 1), nth(line!, 2)),
      call(mulBy01, u, u, w),
      ...combine(a!),
    );
  });
  const sqr12 = module.define(["i32", "i32"], [], (f, to, a) => {
    f.do(
      call(mul6, x, a!, upper(a!)),
      call(add6, u, a!, upper(a!)),
      call(mulByV, w, upper(a!)),
      call(add6, w, w, a!),
      call(mul6, u, u, w),
      call(sub6, u, u, x),
      call(mulByV, w, x),
      call(sub6, to!, u, w),
      call(add6, upper(to!), x, x),
    );
  });

  const cyclotomicSqr = module.define(["i32", "i32"], [], (f, to, a) => {
    /** (first, second) = (a + b·√ξ)², in scratch from `result` on */
    const square = (result: number, a: Operand, b: Operand) => [
      sqr(at(8), a),
      sqr(at(9), b),
      add(s, a, b),
      sqr(s, s),
      sub(s, s, at(8)),
      sub(at(result + 1), s, at(9)),
      xi(t, at(9)),
      add(at(result), t, at(8)),
    ];
    /** Component n of the result: 3·`value` − 2·component, or + where it belongs to the upper half. */
    const finish = (n: number, value: number) => {
      const combined = n < 3 ? sub(s, value, nth(a!, n)) : add(s, value, nth(a!, n));
      return [combined, add(s, s, s), add(nth(to!, n), s, value)];
    };
    f.do(
      ...square(10, a!, nth(a!, 4)),
      ...square(12, nth(a!, 3), nth(a!, 2)),
      ...square(14, nth(a!, 1), nth(a!, 5)),
      xi(at(15), at(15)),
      ...finish(0, at(10)),
      ...finish(1, at(12)),
      ...finish(2, at(14)),
      ...finish(3, at(15)),
      ...finish(4, at(11)),
      ...finish(5, at(13)),
    );
  });
  return { mul6, mulByV, sub6, mul12, sqr12, mulByLine, cyclotomicSqr };
}

/** The extension of the field of `shape` by i with i² = −1: a + b·i as a, then b. */
export function defineQuadratic(
  module: ModuleBuilder,
  shape: FieldShape,
  { add, sub, isZero }: ReturnType<typeof defineField>,
): FieldFunctions {
  const { size, modulus, radix } = shape;
  invariant(radix > 16n * modulus, "products of sums are below 2p after one reduction");
  const double = limbsOf(2n * modulus, shape.limbs);
  const componentwise = (operation: typeof add) =>
    module.define(["i32", "i32", "i32"], [], (f, to, x, y) => {
      f.do(call(operation, to!, x!, y!), call(operation, i32.add(to!, size), i32.add(x!, size), i32.add(y!, size)));
    });
  return {
    size: 2 * size,
    mul: module.define(["i32", "i32", "i32"], [], (f, to, x, y) => {
      const [a, b] = [loadLimbs(f, shape, x!), loadLimbs(f, shape, i32.add(x!, size))];
      const [c, d] = [loadLimbs(f, shape, y!), loadLimbs(f, shape, i32.add(y!, size))];
      const negated = carried(
        f,
        d.map((limb, i) => i64.sub(double[i]!, limb)),
      );
      storeSumOfProducts(f, shape, to!, [a, c], [b, negated]);
      storeSumOfProducts(f, shape, i32.add(to!, size), [a, d], [b, c]);
    }),
    sqr: module.define(["i32", "i32"], [], (f, to, x) => {
      // (a + b)(a − b) + 2ab·i, with factors below 4p.
      const [a, b] = [loadLimbs(f, shape, x!), loadLimbs(f, shape, i32.add(x!, size))];
      const sum = carried(
        f,
        a.map((limb, i) => i64.add(limb, b[i]!)),
      );
      const difference = carried(
        f,
        a.map((limb, i) => i64.add(i64.sub(limb, b[i]!), double[i]!)),
      );
      const twice = carried(
        f,
        b.map((limb) => i64.shl(limb, 1n)),
      );
      storeProduct(f, shape, to!, sum, difference);
      storeProduct(f, shape, i32.add(to!, size), a, twice);
    }),
    add: componentwise(add),
    sub: componentwise(sub),
    isZero: module.define(["i32"], ["i32"], (f, x) => {
      f.return(i32.and(call(isZero, x!), call(isZero, i32.add(x!, size))));
    }),
  };
}
