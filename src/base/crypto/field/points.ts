import { i32, memory, type Operand } from "../../wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../wasm/function.ts";
import type { ModuleBuilder } from "../../wasm/module.ts";
import type { FieldFunctions } from "./field.ts";

/**
 * Points of a curve y² = x³ + ax + b with a = 0 or a = −3 in Jacobian coordinates, x, y, z in a row for (x/z², y/z³); z = 0 is infinity. Formulas of the
 * Explicit-Formulas Database: dbl-2009-l for a = 0, dbl-2001-b (its first half) for a = −3, add-2007-bl, madd-2007-bl. The result may go to an operand's address.
 */
export type PointFunctions = {
  readonly double: FunctionRef;
  /** add(to, p, q, qy): p + q, with y of q at `qy`, so that the address of −y subtracts */
  readonly add: FunctionRef;
  /** addAffine(to, p, q, qy): as `add` for a q with z = 1, whose z is not read; q is not infinity */
  readonly addAffine: FunctionRef;
  /** equalsAffine(p, qx, qy): 1 when p, not infinity, is the point (qx, qy) */
  readonly equalsAffine: FunctionRef;
};

/** Elements of scratch memory that the functions use. */
export const POINT_SCRATCH = 12;

/**
 * One function, since the formulas share numbered scratch elements.
 * @param scratch address of POINT_SCRATCH elements
 * @param one address of the element one
 */
export function definePoints(
  module: ModuleBuilder,
  field: FieldFunctions,
  scratch: number,
  one: number,
  a: 0 | -3 = 0,
): PointFunctions {
  const { size } = field;
  const pointSize = 3 * size;
  const at = (n: number) => scratch + n * size;
  const y = (p: Operand) => i32.add(p, size);
  const z = (p: Operand) => i32.add(p, 2 * size);
  const mul = (to: Operand, a: Operand, b: Operand) => call(field.mul, to, a, b);
  const sqr = (to: Operand, a: Operand) => call(field.sqr, to, a);
  const add = (to: Operand, a: Operand, b: Operand) => call(field.add, to, a, b);
  const sub = (to: Operand, a: Operand, b: Operand) => call(field.sub, to, a, b);
  const { sum } = field;
  const copy = (to: Operand, from: Operand) => memory.copy(to, from, size);

  const double = module.define(["i32", "i32"], [], (f, to, p) => {
    const [xx, yy, c, d, e] = [at(0), at(1), at(2), at(3), at(4)];
    f.do(sqr(yy, y(p!)), sqr(c, yy));
    // d = 4·x·y², e = 3·x² + a·z⁴
    if (a === 0) {
      f.do(sqr(xx, p!), add(d, p!, yy), sqr(d, d), sum(d, [2, d], [-2, xx], [-2, c]), sum(e, [3, xx]));
    } else {
      f.do(
        mul(d, p!, yy),
        sum(d, [4, d]),
        sqr(e, z(p!)),
        sub(xx, p!, e),
        add(e, p!, e),
        mul(xx, xx, e),
        sum(e, [3, xx]),
      );
    }
    f.do(
      mul(z(to!), y(p!), z(p!)),
      sum(z(to!), [2, z(to!)]),
      sqr(xx, e),
      sum(to!, [1, xx], [-2, d]),
      sub(d, d, to!),
      mul(d, e, d),
      sum(y(to!), [1, d], [-8, c]),
    );
  });

  /** Returns from the function if both operands have the same x: the sum is 2p or infinity. `h` and `r` are the differences of x and y. */
  const endIfSameX = (f: FunctionBuilder, to: Operand, p: Operand, h: number, r: number) =>
    f.if(call(field.isZero, h), () => {
      f.if(
        call(field.isZero, r),
        () => f.do(call(double, to, p)),
        () => f.do(memory.fill(to, 0, pointSize)),
      );
      f.return();
    });

  /** x3 = r² − j − 2v and y3 = r·(v − x3) − 2·s·j; overwrites `j` and `v`. */
  const finish = (f: FunctionBuilder, to: Operand, r: number, j: number, v: number, s: Operand) => {
    const [t, w] = [at(10), at(11)];
    f.do(
      mul(w, s, j),
      sqr(t, r),
      sum(to, [1, t], [-1, j], [-2, v]),
      sub(v, v, to),
      mul(v, r, v),
      sum(y(to), [1, v], [-2, w]),
    );
  };

  const addAffine = module.define(["i32", "i32", "i32", "i32"], [], (f, to, p, q, qy) => {
    const [zz, h, hh, i, j, r, v] = [at(0), at(1), at(2), at(3), at(4), at(5), at(6)];
    f.if(call(field.isZero, z(p!)), () => {
      f.do(copy(to!, q!), copy(y(to!), qy!), copy(z(to!), one));
      f.return();
    });
    f.do(sqr(zz, z(p!)), mul(h, q!, zz), sub(h, h, p!), mul(r, qy!, z(p!)), mul(r, r, zz), sub(r, r, y(p!)));
    endIfSameX(f, to!, p!, h, r);
    f.do(
      sqr(hh, h),
      sum(i, [4, hh]),
      mul(j, h, i),
      sum(r, [2, r]),
      mul(v, p!, i),
      add(i, z(p!), h),
      sqr(i, i),
      sum(z(to!), [1, i], [-1, zz], [-1, hh]),
    );
    finish(f, to!, r, j, v, y(p!));
  });

  const addPoints = module.define(["i32", "i32", "i32", "i32"], [], (f, to, p, q, qy) => {
    const [pzz, qzz, u, s, h, i, j, r, v] = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(at) as [
      ...[number, number, number, number, number],
      ...[number, number, number, number],
    ];
    f.if(call(field.isZero, z(p!)), () => {
      // Copies y of q first: `to` may be q.
      f.do(copy(at(0), qy!), copy(to!, q!), copy(z(to!), z(q!)), copy(y(to!), at(0)));
      f.return();
    });
    f.if(call(field.isZero, z(q!)), () => {
      f.do(memory.copy(to!, p!, pointSize));
      f.return();
    });
    f.do(
      sqr(pzz, z(p!)),
      sqr(qzz, z(q!)),
      mul(u, p!, qzz),
      mul(s, y(p!), z(q!)),
      mul(s, s, qzz),
      mul(h, q!, pzz),
      sub(h, h, u),
      mul(r, qy!, z(p!)),
      mul(r, r, pzz),
      sub(r, r, s),
    );
    endIfSameX(f, to!, p!, h, r);
    f.do(
      sum(i, [2, h]),
      sqr(i, i),
      mul(j, h, i),
      sum(r, [2, r]),
      mul(v, u, i),
      add(i, z(p!), z(q!)),
      sqr(i, i),
      sum(i, [1, i], [-1, pzz], [-1, qzz]),
      mul(z(to!), i, h),
    );
    finish(f, to!, r, j, v, s);
  });

  const equalsAffine = module.define(["i32", "i32", "i32"], ["i32"], (f, p, qx, qy) => {
    const [zz, t, w] = [at(0), at(1), at(2)];
    f.do(sqr(zz, z(p!)), mul(t, qx!, zz), sub(t, t, p!), mul(zz, zz, z(p!)), mul(w, qy!, zz), sub(w, w, y(p!)));
    f.return(i32.and(call(field.isZero, t), call(field.isZero, w)));
  });

  return { double, add: addPoints, addAffine, equalsAffine };
}
