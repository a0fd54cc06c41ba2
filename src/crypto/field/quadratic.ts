import { invariant } from "../../errors.ts";
import { i32, i64 } from "../../wasm/code.ts";
import { call } from "../../wasm/function.ts";
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
      f.do(
        call(operation, to!, x!, y!),
        call(operation, i32.add(to!, size), i32.add(x!, size), i32.add(y!, size)),
      );
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
