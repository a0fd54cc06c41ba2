import { type Code, i32, i64, type Operand, v128 } from "../../../wasm/code.ts";
import { call, type FunctionRef } from "../../../wasm/function.ts";
import { WORD } from "../../memory/layout.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { isSmall, limb, storeSmall } from "../words.ts";
import type { Emitter, Emitters } from "./emitter.ts";

function byHalves(combine: (a: Operand, b: Operand) => Code): Emitter {
  return (loop) => {
    const { f, sp } = loop;
    for (const half of [0, 16]) {
      const result = combine(v128.load(sp, half), v128.load(sp, WORD + half));
      f.do(v128.store(sp, result, WORD + half));
    }
    loop.drop(1);
    loop.next();
  };
}

function byFunction(pick: (runtime: Runtime) => FunctionRef): Emitter {
  return (loop) => {
    loop.f.do(call(pick(loop.runtime), loop.sp));
    loop.drop(1);
    loop.next();
  };
}

const not: Emitter = (loop) => {
  for (const half of [0, 16]) {
    loop.f.do(v128.store(loop.sp, v128.not(v128.load(loop.sp, half)), half));
  }
  loop.next();
};

/** BYTE counts from the most significant byte, memory from the least. */
const byte: Emitter = (loop) => {
  const { f, sp } = loop;
  const result = f.i64(0n);
  f.if(i32.and(isSmall(sp), i64.ltU(limb(sp, 0), 32n)), () => {
    const index = i32.sub(WORD + 31, i32.wrap(limb(sp, 0)));
    f.set(result, i64.load8(i32.add(sp, index)));
  });
  storeSmall(f, sp, result, WORD);
  loop.drop(1);
  loop.next();
};

export const BITWISE: Emitters = {
  AND: byHalves(v128.and),
  OR: byHalves(v128.or),
  XOR: byHalves(v128.xor),
  NOT: not,
  BYTE: byte,
  SHL: byFunction((runtime) => runtime.shifts.shl),
  SHR: byFunction((runtime) => runtime.shifts.shr),
  SAR: byFunction((runtime) => runtime.shifts.sar),
};
