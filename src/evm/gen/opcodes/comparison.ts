import { type Code, i32, i64, type Operand } from "../../../wasm/code.ts";
import { WORD } from "../../memory/layout.ts";
import type { Loop } from "../loop.ts";
import { equalWords, isZeroWord, limb, storeSmall } from "../words.ts";
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
