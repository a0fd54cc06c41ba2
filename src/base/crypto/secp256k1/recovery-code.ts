import { i32, i64, memory as linear } from "../../wasm/code.ts";
import { call } from "../../wasm/function.ts";
import { ModuleBuilder } from "../../wasm/module.ts";
import { AFFINE_SCRATCH, AFFINE_SIZE, defineAddAll } from "./affine.ts";
import {
  assign,
  canonical,
  constant,
  decode,
  difference,
  ELEMENT_SIZE,
  encode,
  isZero,
  limbsAt,
  load,
  negative,
  PRIME,
  place,
  product,
  square,
} from "./field.ts";
import { defineJacobian, JACOBIAN_SCRATCH, JACOBIAN_SIZE } from "./jacobian.ts";
import { defineFieldFunctions, POWER_SCRATCH } from "./powers.ts";
import { BETA, DIGIT_COUNT } from "./scalars.ts";

/** An odd multiple of a point: x, y and BETA·x, the x coordinate of its image under the endomorphism. */
export const MULTIPLE_SIZE = 3 * ELEMENT_SIZE;
/** Windows of 8 bits of a scalar, each with 128 multiples of the generator. */
export const WINDOWS = 32;
export const WINDOW_MULTIPLES = 128;

export const SCRATCH_SIZE = (POWER_SCRATCH + AFFINE_SCRATCH + JACOBIAN_SCRATCH + 3) * ELEMENT_SIZE;

export type RecoveryFunctions = {
  /** lift(p, bytes, parity): p = the point with the x coordinate in 32 bytes and y of this parity; 0 if there is no such point. */
  lift(p: number, bytes: number, parity: number): number;
  /** setPoint(p, bytes): p = (x, y) of 64 bytes. All bytes are least significant first. */
  setPoint(p: number, bytes: number): void;
  addAll(list: number, count: number): void;
  /** endomorphism(multiple): sets its BETA·x. */
  endomorphism(multiple: number): void;
  clear(p: number): void;
  double(p: number): void;
  add(p: number, qx: number, qy: number, sign: bigint): void;
  /** ladder(p, digits, multiples): p = a·q + b·LAMBDA·q, by the digits of a and then of b, from the odd multiples of q. */
  ladder(p: number, digits: number, multiples: number): void;
  /** select(points, bytes, table): for each byte d of a scalar, 2d − 255 times the generator's multiple for its position. */
  select(points: number, bytes: number, table: number): void;
  /** sumRow(p, points, count, step): adds affine points, `step` bytes apart, to p. */
  sumRow(p: number, points: number, count: number, step: number): void;
  /** normalize(p, step, count, bytes): affine x and y of Jacobian points as 64 bytes each; zeros for infinity. */
  normalize(p: number, step: number, count: number, bytes: number): void;
};

/**
 * One function, since the emitted functions call each other and share scratch elements. @param products address of one element per sum of
 * `addAll` and per point of `normalize`
 */
export function recoveryModule(scratch: number, products: number): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  let top = scratch;
  const reserve = (elements: number) => {
    const address = top;
    top += elements * ELEMENT_SIZE;
    return address;
  };
  const field = defineFieldFunctions(module, reserve(POWER_SCRATCH));
  const addAll = defineAddAll(module, field, { products, scratch: reserve(AFFINE_SCRATCH) });
  const { double, add } = defineJacobian(module, reserve(JACOBIAN_SCRATCH));
  const [t, u, v] = [reserve(1), reserve(1), reserve(1)];
  const { mul, invert } = field;
  module.export("addAll", addAll);
  module.export("double", double);
  module.export("add", add);

  module.export(
    "lift",
    module.define(["i32", "i32", "i32"], ["i32"], (f, p, bytes, parity) => {
      const [x, y] = [place(p!), place(p!, 1)];
      assign(f, x, () => decode(bytes!));
      assign(f, place(t), () => square(f, load(f, x)));
      assign(f, place(t), () => product(f, load(f, x), load(f, place(t)), constant(7n)));
      f.do(call(field.root, i32.add(p!, ELEMENT_SIZE), t));
      assign(f, place(u), () => square(f, load(f, y), { addend: negative(limbsAt(place(t))) }));
      f.if(i32.eqz(isZero(load(f, place(u)))), () => f.return(i32.of(0)));
      assign(f, y, () => canonical(f, load(f, y)));
      f.if(i32.ne(i32.and(i32.load(p!, ELEMENT_SIZE), 1), parity!), () =>
        assign(f, y, () => difference(f, constant(PRIME), limbsAt(y))),
      );
      f.return(i32.of(1));
    }),
  );
  module.export(
    "setPoint",
    module.define(["i32", "i32"], [], (f, p, bytes) => {
      assign(f, place(p!), () => decode(bytes!));
      assign(f, place(p!, 1), () => decode(i32.add(bytes!, 32)));
    }),
  );
  module.export(
    "endomorphism",
    module.define(["i32"], [], (f, multiple) =>
      assign(f, place(multiple!, 2), () => product(f, load(f, place(multiple!)), constant(BETA))),
    ),
  );
  module.export(
    "clear",
    module.define(["i32"], [], (f, p) => f.do(linear.fill(p!, 0, JACOBIAN_SIZE))),
  );
  module.export(
    "ladder",
    module.define(["i32", "i32", "i32"], [], (f, p, digits, multiples) => {
      const position = f.i32(i32.add(digits!, DIGIT_COUNT));
      const digit = f.i32(0);
      const sign = f.i32(0);
      const multiple = f.i32(0);
      const addDigit = (offset: number, xOffset: number) => {
        f.set(digit, i32.load8S(position, offset));
        f.if(digit, () => {
          f.set(sign, i32.shrS(digit, 31));
          f.set(digit, i32.sub(i32.xor(digit, sign), sign));
          f.set(multiple, i32.add(multiples!, i32.mul(i32.shrU(digit, 1), MULTIPLE_SIZE)));
          const qy = i32.add(multiple, ELEMENT_SIZE);
          f.do(call(add, p!, i32.add(multiple, xOffset), qy, i64.extendS(sign)));
        });
      };
      f.loop((again) => {
        f.set(position, i32.sub(position, 1));
        f.do(call(double, p!));
        addDigit(0, 0);
        addDigit(DIGIT_COUNT, 2 * ELEMENT_SIZE);
        f.brIf(again, i32.gtU(position, digits!));
      });
    }),
  );
  module.export(
    "select",
    module.define(["i32", "i32", "i32"], [], (f, points, bytes, table) => {
      const end = f.i32(i32.add(bytes!, WINDOWS));
      const byte = f.i32(0);
      const negation = f.i32(0);
      const sign = f.i64(0n);
      f.loop((again) => {
        f.set(byte, i32.load8(bytes!));
        // From 128 on, byte d selects the multiple 2(d − 128) + 1, below it the negated one of 255 − d.
        f.set(negation, i32.sub(i32.shrU(byte, 7), 1));
        f.set(sign, i64.extendS(negation));
        f.set(byte, i32.and(i32.xor(byte, negation), WINDOW_MULTIPLES - 1));
        const multiple = f.i32(i32.add(table!, i32.mul(byte, AFFINE_SIZE)));
        assign(f, place(points!), () => limbsAt(place(multiple)));
        assign(f, place(points!, 1), () =>
          limbsAt(place(multiple, 1)).map((limb) => i64.sub(i64.xor(limb, sign), sign)),
        );
        f.set(points!, i32.add(points!, AFFINE_SIZE));
        f.set(table!, i32.add(table!, WINDOW_MULTIPLES * AFFINE_SIZE));
        f.set(bytes!, i32.add(bytes!, 1));
        f.brIf(again, i32.ltU(bytes!, end));
      });
    }),
  );
  module.export(
    "sumRow",
    module.define(["i32", "i32", "i32", "i32"], [], (f, p, points, count, step) => {
      f.loop((again) => {
        f.do(call(add, p!, points!, i32.add(points!, ELEMENT_SIZE), i64.of(0n)));
        f.set(points!, i32.add(points!, step!));
        f.set(count!, i32.sub(count!, 1));
        f.brIf(again, count!);
      });
    }),
  );
  module.export(
    "normalize",
    module.define(["i32", "i32", "i32", "i32"], [], (f, p, step, count, bytes) => {
      const before = f.i32(products);
      const z = place(p!, 2);
      const endOfProducts = f.i32(i32.add(products, i32.mul(count!, ELEMENT_SIZE)));
      assign(f, place(t), () => constant(1n));
      f.loop((again) => {
        assign(f, place(before), () => limbsAt(place(t)));
        f.if(i32.eqz(isZero(load(f, z))), () => f.do(call(mul, t, t, i32.add(p!, 2 * ELEMENT_SIZE))));
        f.set(before, i32.add(before, ELEMENT_SIZE));
        f.set(p!, i32.add(p!, step!));
        f.brIf(again, i32.ltU(before, endOfProducts));
      });
      f.do(call(invert, u, t));
      f.set(bytes!, i32.add(bytes!, i32.mul(count!, 64)));
      f.loop((again) => {
        f.set(before, i32.sub(before, ELEMENT_SIZE));
        f.set(p!, i32.sub(p!, step!));
        f.set(bytes!, i32.sub(bytes!, 64));
        f.do(linear.fill(bytes!, 0, 64));
        f.if(i32.eqz(isZero(load(f, z))), () => {
          f.do(call(mul, t, u, before), call(mul, u, u, i32.add(p!, 2 * ELEMENT_SIZE)));
          f.do(call(field.sqr, v, t));
          assign(f, place(p!), () => product(f, load(f, place(p!)), load(f, place(v))));
          f.do(call(mul, v, v, t));
          assign(f, place(p!, 1), () => product(f, load(f, place(p!, 1)), load(f, place(v))));
          f.scope(() => encode(f, bytes!, canonical(f, load(f, place(p!)))));
          f.scope(() => encode(f, i32.add(bytes!, 32), canonical(f, load(f, place(p!, 1)))));
        });
        f.brIf(again, i32.gtU(before, products));
      });
    }),
  );
  return module.bytes();
}
