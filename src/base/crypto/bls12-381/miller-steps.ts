import { i32, type Local, type Operand } from "../../wasm/code.ts";
import { call } from "../../wasm/function.ts";
import type { ModuleBuilder } from "../../wasm/module.ts";
import type { FieldFunctions } from "../field/field.ts";
import { type Combine, XI } from "../field/linear.ts";

/**
 * Steps of the Miller loop on the twist y² = x³ + 4ξ in homogeneous coordinates (Costello, Lange and Naehrig, 2010). Each leaves
 * at `line` the c0, c1, c2 of the line c0 + c1·x·v + c2·y·v·w at (x, y) of G1.
 */
export function defineMillerSteps(module: ModuleBuilder, fp2: FieldFunctions, combine: Combine, scratch: number) {
  const { size } = fp2;
  const at = (n: number) => scratch + n * size;
  const nth = (p: Local, n: number): Operand => (n === 0 ? p : i32.add(p, n * size));
  const mul = (to: Operand, a: Operand, b: Operand) => call(fp2.mul, to, a, b);
  const sqr = (to: Operand, a: Operand) => call(fp2.sqr, to, a);
  const add = (to: Operand, a: Operand, b: Operand) => call(fp2.add, to, a, b);
  const sub = (to: Operand, a: Operand, b: Operand) => call(fp2.sub, to, a, b);
  const [t0, t1, t2, t3, t4, t5] = [0, 1, 2, 3, 4, 5].map(at) as [
    ...[number, number, number],
    ...[number, number, number],
  ];
  return {
    doubleStep: module.define(["i32", "i32"], [], (f, line, r) => {
      const [x, y, z] = [nth(r!, 0), nth(r!, 1), nth(r!, 2)];
      f.do(
        sqr(t0, y),
        sqr(t1, z),
        add(t4, y, z),
        sqr(t4, t4),
        // t4 = 2·y·z
        combine(t4, [1, t4], [-1, t1], [-1, t0]),
        // t2 = 3·4ξ·z²
        combine(t2, [12, t1, XI]),
        sub(nth(line!, 0), t2, t0),
        sqr(t3, x),
        combine(nth(line!, 1), [3, t3]),
        combine(nth(line!, 2), [-1, t4]),
        // All coordinates are four times those of the paper.
        mul(t5, x, y),
        combine(t1, [2, t0], [-6, t2]),
        mul(x, t5, t1),
        mul(t4, t0, t4),
        combine(z, [4, t4]),
        combine(t3, [1, t0], [3, t2]),
        sqr(t3, t3),
        sqr(t2, t2),
        combine(y, [1, t3], [-12, t2]),
      );
    }),
    /** addStep(line, r, q): the line through r and the affine q; replaces r by r + q */
    addStep: module.define(["i32", "i32", "i32"], [], (f, line, r, q) => {
      const [x, y, z] = [nth(r!, 0), nth(r!, 1), nth(r!, 2)];
      f.do(
        mul(t0, nth(q!, 1), z),
        sub(t0, y, t0),
        mul(t1, q!, z),
        sub(t1, x, t1),
        mul(t2, t0, q!),
        mul(t3, t1, nth(q!, 1)),
        sub(nth(line!, 0), t2, t3),
        combine(nth(line!, 1), [-1, t0]),
        combine(nth(line!, 2), [1, t1]),
        sqr(t2, t1),
        mul(t3, t2, t1),
        mul(t4, t2, x),
        sqr(t5, t0),
        mul(t5, t5, z),
        combine(t5, [1, t5], [1, t3], [-2, t4]),
        mul(x, t1, t5),
        sub(t4, t4, t5),
        mul(t4, t4, t0),
        mul(t3, t3, y),
        sub(y, t4, t3),
        mul(t3, t2, t1),
        mul(z, z, t3),
      );
    }),
  };
}
