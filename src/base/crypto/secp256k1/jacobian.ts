import { i32, i64, memory, type Operand } from "../../wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../wasm/function.ts";
import type { ModuleBuilder } from "../../wasm/module.ts";
import {
  assign,
  constant,
  difference,
  ELEMENT_SIZE,
  isZero,
  limbsAt,
  load,
  multiple,
  negative,
  type Place,
  PRIME,
  place,
  product,
  square,
  sumOfProducts,
} from "./field.ts";

/** Points of y² = x³ + 7 in Jacobian coordinates: consecutive x, y, z for (x/z², y/z³); z = 0 is infinity. */
export const JACOBIAN_SIZE = 3 * ELEMENT_SIZE;

export type JacobianFunctions = {
  readonly double: FunctionRef;
  /** add(p, qx, qy, sign): p = p + q for sign 0, p − q for sign −1, for every p and an affine q */
  readonly add: FunctionRef;
};

/** Elements of scratch memory that the functions use. */
export const JACOBIAN_SCRATCH = 8;

/** @param scratch address of JACOBIAN_SCRATCH elements */
export function defineJacobian(module: ModuleBuilder, scratch: number): JacobianFunctions {
  const temporary = (index: number) => place(scratch, index);
  const coordinates = (p: Operand) => [place(p, 0), place(p, 1), place(p, 2)] as const;

  const double = module.define(["i32"], [], (f, p) => {
    const [x, y, z] = coordinates(p!);
    const m = temporary(0);
    const yy = temporary(1);
    const s = temporary(2);
    const c = temporary(3);
    // m = 3x², s = 2xy², c = 2y⁴
    assign(f, z, () => product(f, multiple(f, load(f, y), 2n), load(f, z)));
    assign(f, m, () => square(f, load(f, x), { factor: 3n }));
    assign(f, yy, () => square(f, load(f, y)));
    assign(f, s, () => product(f, multiple(f, load(f, x), 2n), load(f, yy)));
    assign(f, x, () => square(f, load(f, m), { addend: negative(limbsAt(s), 4n) }));
    assign(f, c, () => square(f, load(f, yy), { factor: 2n }));
    assign(f, y, () =>
      product(f, load(f, m), difference(f, multiple(f, limbsAt(s), 2n), limbsAt(x)), negative(limbsAt(c), 4n)),
    );
  });

  const r = temporary(2);
  const signedY = temporary(7);
  // p is infinity, q or −q; x of q is at qx, y in signedY.
  const addExceptionally = module.define(["i32", "i32"], [], (f, p, qx) => {
    const [, y, z] = coordinates(p!);
    f.if(
      isZero(load(f, z)),
      () => {
        f.do(memory.copy(p!, qx!, ELEMENT_SIZE));
        // A product carries the limbs of −y.
        assign(f, y, () => product(f, load(f, signedY), constant(1n)));
        assign(f, z, () => constant(1n));
      },
      () =>
        f.if(
          isZero(load(f, r)),
          () => f.do(call(double, p!)),
          () => f.do(memory.fill(i32.add(p!, 2 * ELEMENT_SIZE), 0, ELEMENT_SIZE)),
        ),
    );
  });

  const add = module.define(["i32", "i32", "i32", "i64"], [], (f, p, qx, qy, sign) => {
    const [x, y, z] = coordinates(p!);
    const zz = temporary(0);
    const h = temporary(1);
    const hh = temporary(3);
    const hhh = temporary(4);
    const v = temporary(5);
    const negativeY = temporary(6);
    assign(f, signedY, () => limbsAt(place(qy!)).map((limb) => i64.sub(i64.xor(limb, sign!), sign!)));
    assign(f, zz, () => square(f, load(f, z)));
    assign(f, h, () => product(f, load(f, place(qx!)), load(f, zz), negative(limbsAt(x))));
    assign(f, zz, () => product(f, load(f, z), load(f, zz)));
    assign(f, r, () => product(f, load(f, signedY), load(f, zz), negative(limbsAt(y))));
    assign(f, zz, () => product(f, load(f, z), load(f, h)));
    ifZero(f, zz, () => {
      f.do(call(addExceptionally, p!, qx!));
      f.return();
    });
    assign(f, z, () => load(f, zz));
    assign(f, hh, () => square(f, load(f, h)));
    assign(f, hhh, () => product(f, load(f, h), load(f, hh)));
    assign(f, v, () => product(f, load(f, x), load(f, hh)));
    assign(f, x, () =>
      square(f, load(f, r), {
        addend: limbsAt(hhh).map((limb, i) => i64.sub(0n, i64.add(limb, i64.shl(limbsAt(v)[i]!, 1n)))),
      }),
    );
    assign(f, negativeY, () => negative(limbsAt(y)));
    assign(f, y, () =>
      sumOfProducts(f, [load(f, r), difference(f, limbsAt(v), limbsAt(x))], [load(f, negativeY), load(f, hhh)]),
    );
  });
  return { double, add };
}

/** Compares only the lowest limb for all elements but one in 2^28. */
function ifZero(f: FunctionBuilder, element: Place, then: () => void): void {
  const lowest = i64.load(element.address, element.offset);
  const [ofPrime] = constant(PRIME);
  f.if(i32.or(i64.eqz(lowest), i64.eq(lowest, ofPrime!)), () => f.if(isZero(load(f, element)), then));
}
