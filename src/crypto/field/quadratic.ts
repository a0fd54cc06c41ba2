import { i32, memory } from "../../wasm/code.ts";
import { call } from "../../wasm/function.ts";
import type { ModuleBuilder } from "../../wasm/module.ts";
import type { defineField, FieldFunctions } from "./field.ts";

/** The extension by i with i² = −1: a + b·i as a, then b. `scratch` is the address of 3 elements of the prime field, `zero` that of 0. */
export function defineQuadratic(
  module: ModuleBuilder,
  { size, mul, mulAdd, add, sub, isZero }: ReturnType<typeof defineField>,
  scratch: number,
  zero: number,
): FieldFunctions {
  const [s, t, u] = [scratch, scratch + size, scratch + 2 * size];
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
      f.do(
        call(sub, s, zero, i32.add(y!, size)),
        call(mulAdd, t, x!, i32.add(y!, size), i32.add(x!, size), y!),
        call(mulAdd, to!, x!, y!, i32.add(x!, size), s),
        memory.copy(i32.add(to!, size), t, size),
      );
    }),
    sqr: module.define(["i32", "i32"], [], (f, to, x) => {
      f.do(
        call(add, s, x!, i32.add(x!, size)),
        call(sub, t, x!, i32.add(x!, size)),
        call(mul, u, x!, i32.add(x!, size)),
        call(mul, to!, s, t),
        call(add, i32.add(to!, size), u, u),
      );
    }),
    add: componentwise(add),
    sub: componentwise(sub),
    isZero: module.define(["i32"], ["i32"], (f, x) => {
      f.return(i32.and(call(isZero, x!), call(isZero, i32.add(x!, size))));
    }),
  };
}
