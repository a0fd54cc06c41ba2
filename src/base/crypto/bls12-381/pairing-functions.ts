import { i32, memory as linear, type Operand } from "../../wasm/code.ts";
import { call } from "../../wasm/function.ts";
import type { ModuleBuilder } from "../../wasm/module.ts";
import { defineField } from "../field/field.ts";
import { defineSums, XI } from "../field/linear.ts";
import type { FieldShape } from "../field/shape.ts";
import { defineQuadratic, defineTower, TOWER_SCRATCH } from "../field/tower.ts";
import { defineMillerSteps } from "./miller-steps.ts";

const LINE_SCRATCH = 8;

/** Elements of Fp2 that `definePairing` needs for itself and the tower. */
export const PAIRING_SCRATCH = TOWER_SCRATCH + LINE_SCRATCH;

/**
 * @param addresses `scratch`: PAIRING_SCRATCH elements of Fp2; `zero`: that of Fp12; `gammas`: γ⁰ to γ⁵
 */
export function definePairing(
  module: ModuleBuilder,
  shape: FieldShape,
  { scratch, zero, gammas }: { scratch: number; zero: number; gammas: number },
) {
  const { size } = shape;
  const size2 = 2 * size;
  const fp = defineField(module, shape);
  const fp2 = defineQuadratic(module, shape, fp);
  const nth = (p: Operand, n: number) => (n === 0 ? p : i32.add(p, n * size2));
  const imaginary = (p: Operand) => i32.add(p, size);
  const combine = defineSums(module, shape, 2, [1, 1]);
  const tower = defineTower(module, fp2, combine, scratch);
  const lineScratch = scratch + TOWER_SCRATCH * size2;
  return {
    mul: fp.mul,
    reduce: fp.reduce,
    mul2: fp2.mul,
    sub2: fp2.sub,
    mulByXi: module.define(["i32", "i32"], [], (f, to, p) => f.do(combine(to!, [1, p!, XI]))),
    ...tower,
    ...defineMillerSteps(module, fp2, combine, lineScratch),
    /** multiplyLine(f, line, p): f times the line at the point (x, y) of G1 at `p` */
    multiplyLine: module.define(["i32", "i32", "i32"], [], (f, to, line, p) => {
      const own = lineScratch;
      const scaled = (n: number, by: Operand) =>
        [0, 1].map((part) => call(fp.mul, own + (2 * n + part) * size, i32.add(line!, (2 * n + part) * size), by));
      f.do(
        linear.copy(own, line!, size2),
        ...scaled(1, p!),
        ...scaled(2, i32.add(p!, size)),
        call(tower.mulByLine, to!, own),
      );
    }),
    /** multiplyUnitLine(f, line, p): `multiplyLine` for a line divided by its c0; `line` holds c1 and c2 */
    multiplyUnitLine: module.define(["i32", "i32", "i32"], [], (f, to, line, p) => {
      const scaled = [0, 1, 2, 3].map((part) =>
        call(fp.mul, lineScratch + part * size, i32.add(line!, part * size), part < 2 ? p! : i32.add(p!, size)),
      );
      f.do(...scaled, call(tower.mulByUnitLine, to!, lineScratch));
    }),
    /** conjugate(to, a): the p⁶-th power */
    conjugate: module.define(["i32", "i32"], [], (f, to, p) => {
      for (let n = 0; n < 3; n++) {
        f.do(linear.copy(nth(to!, n), nth(p!, n), size2), combine(nth(to!, n + 3), [-1, nth(p!, n + 3)]));
      }
    }),
    /** frobenius(to, a): the p-th power */
    frobenius: module.define(["i32", "i32"], [], (f, to, p) => {
      // Component n belongs to this power of w.
      [0, 2, 4, 1, 3, 5].forEach((exponent, n) => {
        f.do(
          linear.copy(nth(to!, n), nth(p!, n), size),
          call(fp.sub, imaginary(nth(to!, n)), zero, imaginary(nth(p!, n))),
          call(fp2.mul, nth(to!, n), nth(to!, n), gammas + exponent * size2),
        );
      });
    }),
    /** isOne(a): 1 for one */
    isOne: module.define(["i32"], ["i32"], (f, p) => {
      f.do(call(fp2.sub, lineScratch, p!, gammas));
      const rest = [1, 2, 3, 4, 5].map((n): Operand => call(fp2.isZero, nth(p!, n)));
      f.return(i32.of([call(fp2.isZero, lineScratch), ...rest].reduce((x, y) => i32.and(x, y))));
    }),
  };
}
