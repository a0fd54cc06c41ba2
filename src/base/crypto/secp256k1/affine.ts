import { i32 } from "../../wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../wasm/function.ts";
import type { ModuleBuilder } from "../../wasm/module.ts";
import {
  assign,
  constant,
  difference,
  ELEMENT_SIZE,
  limbsAt,
  load,
  multiple,
  negative,
  place,
  product,
  square,
} from "./field.ts";
import type { FieldFunctions } from "./powers.ts";

/** Points in affine coordinates: x, y. */
export const AFFINE_SIZE = 2 * ELEMENT_SIZE;

/** Bytes per sum in the list of `addAll`: the addresses of the result and both operands. */
export const SUM_SIZE = 12;

/** Elements of scratch memory that `addAll` uses. */
export const AFFINE_SCRATCH = 5;

/**
 * addAll(list, count): many sums of affine points for one inversion (Montgomery's trick) and six multiplications each. Operands at the same
 * address are doubled; other pairs must have different x coordinates. A result may replace an operand of its own sum, but not be an operand of
 * another.
 * @param products address of one element per sum
 * @param scratch address of AFFINE_SCRATCH elements
 */
export function defineAddAll(
  module: ModuleBuilder,
  field: FieldFunctions,
  { products, scratch }: { readonly products: number; readonly scratch: number },
): FunctionRef {
  const temporary = (index: number) => scratch + index * ELEMENT_SIZE;
  const all = temporary(0);
  const inverse = temporary(1);
  const divisor = temporary(2);
  const slope = temporary(3);
  const x3 = temporary(4);

  return module.define(["i32", "i32"], [], (f, list, count) => {
    const end = f.i32(i32.add(list!, i32.mul(count!, SUM_SIZE)));
    const sum = f.i32(list!);
    const before = f.i32(products);
    const a = f.i32(0);
    const b = f.i32(0);
    const [xa, ya, xb, yb] = [place(a), place(a, 1), place(b), place(b, 1)];
    const readOperands = (f: FunctionBuilder) => {
      f.set(a, i32.load(sum, 4));
      f.set(b, i32.load(sum, 8));
      f.if(
        i32.eq(a, b),
        () => assign(f, place(divisor), () => multiple(f, limbsAt(ya), 2n)),
        () => assign(f, place(divisor), () => difference(f, limbsAt(xb), limbsAt(xa))),
      );
    };
    assign(f, place(all), () => constant(1n));
    f.loop((again) => {
      readOperands(f);
      assign(f, place(before), () => limbsAt(place(all)));
      f.do(call(field.mul, all, all, divisor));
      f.set(before, i32.add(before, ELEMENT_SIZE));
      f.set(sum, i32.add(sum, SUM_SIZE));
      f.brIf(again, i32.ltU(sum, end));
    });
    f.do(call(field.invert, inverse, all));
    f.loop((again) => {
      f.set(before, i32.sub(before, ELEMENT_SIZE));
      f.set(sum, i32.sub(sum, SUM_SIZE));
      readOperands(f);
      f.if(
        i32.eq(a, b),
        () => assign(f, place(slope), () => square(f, load(f, xa), { factor: 3n })),
        () => assign(f, place(slope), () => difference(f, limbsAt(yb), limbsAt(ya))),
      );
      f.do(
        call(field.mul, all, inverse, before),
        call(field.mul, inverse, inverse, divisor),
        call(field.mul, slope, slope, all),
      );
      assign(f, place(x3), () =>
        square(f, load(f, place(slope)), {
          addend: difference(f, negative(limbsAt(xa)), limbsAt(xb)),
        }),
      );
      const to = f.i32(i32.load(sum));
      assign(f, place(to, 1), () =>
        product(f, load(f, place(slope)), difference(f, limbsAt(xa), limbsAt(place(x3))), negative(limbsAt(ya))),
      );
      assign(f, place(to), () => limbsAt(place(x3)));
      f.brIf(again, i32.gtU(sum, list!));
    });
  });
}
