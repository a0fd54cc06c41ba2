import { i32, memory, type Operand } from "../../wasm/code.ts";
import { call, type FunctionRef } from "../../wasm/function.ts";
import type { ModuleBuilder } from "../../wasm/module.ts";
import { assign, ELEMENT_SIZE, load, PRIME, place, product, square } from "./field.ts";

/** Functions over addresses of elements; the result goes to the first address. */
export type FieldFunctions = {
  readonly mul: FunctionRef;
  readonly sqr: FunctionRef;
  /** invert(to, a): a⁻¹, or 0 for 0 */
  readonly invert: FunctionRef;
  /** root(to, a): a square root of `a`, if it has one */
  readonly root: FunctionRef;
};

/** Elements of scratch memory that the functions use. */
export const POWER_SCRATCH = 6;

/** @param scratch address of POWER_SCRATCH elements */
export function defineFieldFunctions(module: ModuleBuilder, scratch: number): FieldFunctions {
  const mul = module.define(["i32", "i32", "i32"], [], (f, to, a, b) =>
    assign(f, place(to!), () => product(f, load(f, place(a!)), load(f, place(b!)))),
  );
  const sqr = module.define(["i32", "i32"], [], (f, to, a) =>
    assign(f, place(to!), () => square(f, load(f, place(a!)))),
  );
  // squareTimes(to, a, count): a^(2^count), count > 0
  const squareTimes = module.define(["i32", "i32", "i32"], [], (f, to, a, count) => {
    f.do(call(sqr, to!, a!));
    f.loop((again) => {
      f.set(count!, i32.sub(count!, 1));
      f.if(count!, () => {
        f.do(call(sqr, to!, to!));
        f.br(again);
      });
    });
  });
  const temporary = (index: number) => scratch + index * ELEMENT_SIZE;
  const x2 = temporary(0);
  const x3 = temporary(1);
  const x22 = temporary(2);
  const x44 = temporary(3);
  const t = temporary(4);
  const u = temporary(5);

  /** The windows are the runs of ones of `exponent`: the first has length 223, the others 22, 2 or 1. xN is a^(2^N − 1). */
  const power = (exponent: bigint) =>
    module.define(["i32", "i32"], [], (f, to, a) => {
      // out = from^(2^count) · times
      const extend = (out: Operand, from: Operand, count: number, times: Operand) =>
        f.do(call(squareTimes, u, from, count), call(mul, out, u, times));
      extend(x2, a!, 1, a!);
      extend(x3, x2, 1, a!);
      extend(t, x3, 3, x3);
      extend(t, t, 3, x3);
      extend(t, t, 2, x2);
      extend(x22, t, 11, t);
      extend(x44, x22, 22, x22);
      extend(t, x44, 44, x44);
      extend(t, t, 88, t);
      extend(t, t, 44, x44);
      extend(t, t, 3, x3);
      const byLength = new Map<number, Operand>([
        [1, a!],
        [2, x2],
        [22, x22],
      ]);
      const runs = [...exponent.toString(2).matchAll(/(1+)(0*)/g)];
      runs.slice(1).forEach(([, ones], i) => {
        extend(t, t, runs[i]![2]!.length + ones!.length, byLength.get(ones!.length)!);
      });
      const zeros = runs.at(-1)![2]!.length;
      if (zeros > 0) f.do(call(squareTimes, to!, t, zeros));
      else f.do(memory.copy(to!, t, ELEMENT_SIZE));
    });
  return { mul, sqr, invert: power(PRIME - 2n), root: power((PRIME + 1n) / 4n) };
}
