import { type Code, i32, i64, type Operand, v128 } from "../../../../base/wasm/code.ts";
import { call, type FunctionRef } from "../../../../base/wasm/function.ts";
import { WORD } from "../../memory/layout.ts";
import type { Loop } from "../loop.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { equalWords, isSmall, isZeroWord, limb, storeSmall } from "../words.ts";
import type { Emitter, Emitters } from "./emitter.ts";
import { jumpOnAnswer } from "./jumps.ts";

/** a < b from the lowest limb up: a limb decides unless the two are equal, then the lower ones do. */
function lessThan(a: (i: number) => Code, b: (i: number) => Code, isSigned: boolean): Code {
  let result: Code = i64.ltU(a(0), b(0));
  for (let i = 1; i < 4; i++) {
    const less = i === 3 && isSigned ? i64.ltS : i64.ltU;
    result = i32.or(less(a(i), b(i)), i32.and(i64.eq(a(i), b(i)), result));
  }
  return result;
}

const ISZERO = 0x15;

function compare(condition: (loop: Loop) => Operand): Emitter {
  return (loop) => {
    const { f, sp, pc } = loop;
    const answer = f.i32(condition(loop));
    const next = f.i32(i32.add(pc, 1));
    if (loop.build === "fast") {
      f.if(i32.eq(i32.load8(next), ISZERO), () => {
        f.set(answer, i32.eqz(answer));
        f.set(next, i32.add(next, 1));
      });
    }
    jumpOnAnswer(loop, answer, next, 2);
    storeSmall(f, sp, i64.extendU(answer), WORD);
    loop.drop(1);
    f.set(pc, next);
    f.br(loop.dispatch);
  };
}

const first =
  ({ sp }: Loop) =>
  (i: number) =>
    limb(sp, i);
const second =
  ({ sp }: Loop) =>
  (i: number) =>
    limb(sp, i, WORD);

export const COMPARISON: Emitters = {
  LT: compare((loop) => lessThan(first(loop), second(loop), false)),
  GT: compare((loop) => lessThan(second(loop), first(loop), false)),
  SLT: compare((loop) => lessThan(first(loop), second(loop), true)),
  SGT: compare((loop) => lessThan(second(loop), first(loop), true)),
  EQ: compare(({ sp }) => equalWords(sp, sp, 0, WORD)),
  ISZERO: (loop) => {
    const answer = loop.f.i32(isZeroWord(loop.sp));
    jumpOnAnswer(loop, answer, i32.add(loop.pc, 1), 1);
    storeSmall(loop.f, loop.sp, i64.extendU(answer));
    loop.next();
  },
};

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
