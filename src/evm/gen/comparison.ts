import { WORD } from "../layout.ts";
import { type Code, i32, i64, type Operand } from "../wasm/code.ts";
import type { Loop } from "./loop.ts";
import type { Emitter, Emitters } from "./opcode-emitters.ts";
import { equalWords, isZeroWord, limb, storeSmall } from "./words.ts";

/** a < b from the lowest limb up: a limb decides unless the two are equal, then the lower ones do. */
function lessThan(a: (i: number) => Code, b: (i: number) => Code, isSigned: boolean): Code {
  let result: Code = i64.ltU(a(0), b(0));
  for (let i = 1; i < 4; i++) {
    const less = i === 3 && isSigned ? i64.ltS : i64.ltU;
    result = i32.or(less(a(i), b(i)), i32.and(i64.eq(a(i), b(i)), result));
  }
  return result;
}

function compare(condition: (loop: Loop) => Operand): Emitter {
  return (loop) => {
    const { f, sp } = loop;
    const answer = f.i64(i64.extendU(condition(loop)));
    storeSmall(f, sp, answer, WORD);
    loop.drop(1);
    loop.next();
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
    const answer = loop.f.i64(i64.extendU(isZeroWord(loop.sp)));
    storeSmall(loop.f, loop.sp, answer);
    loop.next();
  },
};
