import { invariant } from "../../errors.ts";
import { i32, i64, memory, type Operand } from "../../wasm/code.ts";
import { call, type FunctionRef } from "../../wasm/function.ts";
import type { ModuleBuilder } from "../../wasm/module.ts";
import {
  carried,
  type defineField,
  type FieldFunctions,
  loadLimbs,
  storeProduct,
  storeSumOfProducts,
} from "./field.ts";
import { type Combine, defineLinear, defineSums, minus, plus, type SumTerm, type Term, XI } from "./linear.ts";
import { type FieldShape, limbsOf } from "./shape.ts";

/**
 * The extension of degree 12 over a quadratic extension Fp2, in which ξ is neither a square nor a cube:
 *
 *     Fp6  = Fp2[v] / (v³ − ξ)     c0, c1, c2 in a row for c0 + c1·v + c2·v²
 *     Fp12 = Fp6[w] / (w² − v)     c0, c1 in a row for c0 + c1·w
 *
 * Results may go to an operand's address.
 */
export type TowerFunctions = {
  readonly mul6: FunctionRef;
  /** mulByV(to, a): a·v in Fp6 */
  readonly mulByV: FunctionRef;
  readonly sub6: FunctionRef;
  /** mul12(to, a, b) in Fp12 */
  readonly mul12: FunctionRef;
  readonly sqr12: FunctionRef;
  /** mulByLine(f, line): f times c0 + c1·v + c2·v·w, with c0, c1, c2 of Fp2 in a row at `line` */
  readonly mulByLine: FunctionRef;
  /** mulByUnitLine(f, line): f times 1 + c1·v + c2·v·w, with c1, c2 at `line` */
  readonly mulByUnitLine: FunctionRef;
  /** cyclotomicSqr(to, a): a² for a of the cyclotomic subgroup (Granger and Scott, "Faster squaring in the cyclotomic subgroup", 2009) */
  readonly cyclotomicSqr: FunctionRef;
};

/** Elements of Fp2 that the functions need as scratch memory. */
export const TOWER_SCRATCH = 20;

/**
 * One function, since the emitted functions call each other and share numbered scratch elements.
 * @param combine sums in Fp2
 * @param scratch address of TOWER_SCRATCH elements of Fp2
 */
export function defineTower(
  module: ModuleBuilder,
  fp2: FieldFunctions,
  combine: Combine,
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
    /** result = (a_i + a_j)·(b_i + b_j) */
    const crossed = (result: number, i: number, j: number) => [
      add(s, nth(a!, i), nth(a!, j)),
      add(t, nth(b!, i), nth(b!, j)),
      mul(result, s, t),
    ];
    f.do(
      mul(v0, a!, b!),
      mul(v1, nth(a!, 1), nth(b!, 1)),
      mul(v2, nth(a!, 2), nth(b!, 2)),
      ...crossed(r0, 1, 2),
      ...crossed(r1, 0, 1),
      ...crossed(s, 0, 2),
      combine(to!, [1, v0], [1, r0, XI], [-1, v1, XI], [-1, v2, XI]),
      combine(nth(to!, 1), [1, r1], [-1, v0], [-1, v1], [1, v2, XI]),
      combine(nth(to!, 2), [1, s], [1, v1], [-1, v0], [-1, v2]),
    );
  });
  const mulByV = module.define(["i32", "i32"], [], (f, to, a) => {
    f.do(combine(s, [1, nth(a!, 2), XI]), memory.copy(nth(to!, 1), a!, 2 * size), memory.copy(to!, s, size));
  });
  /** mulBy01(to, a, b): a·(b0 + b1·v) */
  const mulBy01 = module.define(["i32", "i32", "i32"], [], (f, to, a, b) => {
    f.do(
      mul(v0, a!, b!),
      mul(v1, nth(a!, 1), nth(b!, 1)),
      mul(r0, nth(a!, 2), nth(b!, 1)),
      add(s, a!, nth(a!, 1)),
      add(t, b!, nth(b!, 1)),
      mul(r1, s, t),
      mul(s, nth(a!, 2), b!),
      combine(to!, [1, v0], [1, r0, XI]),
      combine(nth(to!, 1), [1, r1], [-1, v0], [-1, v1]),
      add(nth(to!, 2), s, v1),
    );
  });
  /** mulBy1(to, a, b): a·b·v for b of Fp2 */
  const mulBy1 = module.define(["i32", "i32", "i32"], [], (f, to, a, b) => {
    f.do(
      mul(r0, nth(a!, 2), b!),
      mul(nth(to!, 2), nth(a!, 1), b!),
      mul(nth(to!, 1), a!, b!),
      combine(to!, [1, r0, XI]),
    );
  });

  const [x, y, u, w] = [at(8), at(11), at(14), at(17)];
  /** to = (x + v·y) + (u − x − y)·w, the end of a multiplication by Karatsuba's method */
  const finish = (to: Operand) => [
    ...[3, 4, 5].map((n) =>
      combine(nth(to, n), [1, u + (n - 3) * size], [-1, x + (n - 3) * size], [-1, y + (n - 3) * size]),
    ),
    combine(to, [1, x], [1, y + 2 * size, XI]),
    add(nth(to, 1), x + size, y),
    add(nth(to, 2), x + 2 * size, y + size),
  ];
  const mul12 = module.define(["i32", "i32", "i32"], [], (f, to, a, b) => {
    f.do(
      call(mul6, x, a!, b!),
      call(mul6, y, upper(a!), upper(b!)),
      call(add6, u, a!, upper(a!)),
      call(add6, w, b!, upper(b!)),
      call(mul6, u, u, w),
      ...finish(to!),
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
      ...finish(a!),
    );
  });
  const mulByUnitLine = module.define(["i32", "i32"], [], (f, a, line) => {
    // With a = l + u·w, the product is a + v·(l·c1 + u·c2·v) + v·(l·c2 + u·c1)·w.
    const [p, q, r] = [8, 11, 14].map((first) => [0, 1, 2].map((n) => at(first + n))) as [number[], number[], number[]];
    const [c1, c2] = [line!, nth(line!, 1)];
    f.do(add(t, c1, c2));
    for (let n = 0; n < 3; n++) {
      f.do(
        mul(p[n]!, nth(a!, n), c1),
        mul(q[n]!, nth(a!, n + 3), c2),
        add(s, nth(a!, n), nth(a!, n + 3)),
        mul(r[n]!, s, t),
      );
    }
    const own = (n: number): SumTerm => [1, nth(a!, n)];
    f.do(
      combine(a!, own(0), [1, p[2]!, XI], [1, q[1]!, XI]),
      combine(nth(a!, 1), own(1), [1, p[0]!], [1, q[2]!, XI]),
      combine(nth(a!, 2), own(2), [1, p[1]!], [1, q[0]!]),
      combine(nth(a!, 3), own(3), [1, r[2]!, XI], [-1, p[2]!, XI], [-1, q[2]!, XI]),
      ...[1, 2].map((n) => combine(nth(a!, n + 3), own(n + 3), [1, r[n - 1]!], [-1, p[n - 1]!], [-1, q[n - 1]!])),
    );
  });
  const sqr12 = module.define(["i32", "i32"], [], (f, to, a) => {
    const nths = (first: number) => [0, 1, 2].map((n) => first + n * size) as [number, number, number];
    const [x0, x1, x2] = nths(x);
    const [u0, u1, u2] = nths(u);
    f.do(
      call(mul6, x, a!, upper(a!)),
      call(add6, u, a!, upper(a!)),
      combine(w, [1, a!], [1, nth(a!, 5), XI]),
      add(w + size, nth(a!, 1), nth(a!, 3)),
      add(w + 2 * size, nth(a!, 2), nth(a!, 4)),
      call(mul6, u, u, w),
      combine(to!, [1, u0], [-1, x0], [-1, x2, XI]),
      combine(nth(to!, 1), [1, u1], [-1, x1], [-1, x0]),
      combine(nth(to!, 2), [1, u2], [-1, x2], [-1, x1]),
      call(add6, upper(to!), x, x),
    );
  });

  const cyclotomicSqr = module.define(["i32", "i32"], [], (f, to, a) => {
    /** In scratch from `result` on: first², second², (first + second)² */
    const squares = (result: number, first: number, second: number) => [
      sqr(at(result), nth(a!, first)),
      sqr(at(result + 1), nth(a!, second)),
      add(s, nth(a!, first), nth(a!, second)),
      sqr(at(result + 2), s),
    ];
    /** 3·(first + second·√ξ)² = 3·(first² + second²·ξ) + 3·(2·first·second)·√ξ, less or plus twice the component of `a` */
    const even = (n: number, from: number) =>
      combine(nth(to!, n), [3, at(from)], [3, at(from + 1), XI], [-2, nth(a!, n)]);
    const odd = (n: number, from: number, xi?: typeof XI) =>
      combine(nth(to!, n), [3, at(from + 2), xi], [-3, at(from), xi], [-3, at(from + 1), xi], [2, nth(a!, n)]);
    f.do(
      ...squares(8, 0, 4),
      ...squares(11, 3, 2),
      ...squares(14, 1, 5),
      even(0, 8),
      even(1, 11),
      even(2, 14),
      odd(3, 14, XI),
      odd(4, 8),
      odd(5, 11),
    );
  });
  return { mul6, mulByV, sub6, mul12, sqr12, mulByLine, mulByUnitLine, cyclotomicSqr };
}

/** The extension of the field of `shape` by i with i² = −1: a + b·i as a, then b. */
export function defineQuadratic(
  module: ModuleBuilder,
  shape: FieldShape,
  { isZero }: ReturnType<typeof defineField>,
): FieldFunctions {
  const { size, modulus, radix } = shape;
  invariant(radix > 16n * modulus, "products of sums are below 2p after one reduction");
  const double = limbsOf(2n * modulus, shape.limbs);
  const both = (terms: (part: number) => Term[]) => [terms(0), terms(1)];
  const add = defineLinear(
    module,
    shape,
    2,
    both((part) => [plus(0, part), plus(1, part)]),
  );
  const sub = defineLinear(
    module,
    shape,
    2,
    both((part) => [plus(0, part), minus(1, part)]),
  );
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
    add,
    sub,
    sum: defineSums(module, shape, 2),
    isZero: module.define(["i32"], ["i32"], (f, x) => {
      f.return(i32.and(call(isZero, x!), call(isZero, i32.add(x!, size))));
    }),
  };
}
