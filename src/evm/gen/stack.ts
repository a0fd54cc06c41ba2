import { WORD } from "../layout.ts";
import { i32, i64, v128 } from "../wasm/code.ts";
import type { Emitter, Emitters } from "./opcode-emitters.ts";
import { copyWord, storeSmall, storeZero } from "./words.ts";

/**
 * The immediate of n bytes ends at pc + n. Each half of the word is the 16 bytes before its end, turned round, with the
 * bytes that do not belong to the immediate masked off; code has readable bytes before and behind it.
 */
const push: Emitter = (loop, { code }) => {
  const { f, pc, sp } = loop;
  const size = code - 0x5f;
  loop.grow();
  if (size === 0) {
    storeZero(f, sp);
    loop.next();
    return;
  }
  if (size === 1) {
    storeSmall(f, sp, i64.load8(pc, 1));
    loop.next(2);
    return;
  }
  for (const half of [0, 16]) {
    const bytes = Math.max(0, Math.min(16, size - half));
    if (bytes === 0) {
      f.do(v128.store(sp, v128.zero, half));
      continue;
    }
    f.scope(() => {
      const begin = 1 + size - half - 16;
      const raw = f.v128(begin >= 0 ? v128.load(pc, begin) : v128.load(i32.sub(pc, -begin)));
      const turned = v128.shuffle(raw, [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
      const mask = Array.from({ length: 16 }, (_, i) => (i < bytes ? 0xff : 0));
      f.do(v128.store(sp, bytes === 16 ? turned : v128.and(turned, v128.bytes(mask)), half));
    });
  }
  loop.next(size + 1);
};

const dup: Emitter = (loop, { pops }) => {
  loop.grow();
  copyWord(loop.f, loop.sp, loop.sp, 0, pops * WORD);
  loop.next();
};

const swap: Emitter = (loop, { pops }) => {
  const { f, sp } = loop;
  const deep = (pops - 1) * WORD;
  for (const half of [0, 16]) {
    const top = f.v128(v128.load(sp, half));
    f.do(v128.store(sp, v128.load(sp, deep + half), half));
    f.do(v128.store(sp, top, deep + half));
  }
  loop.next();
};

const pop: Emitter = (loop) => {
  loop.drop(1);
  loop.next();
};

export const STACK: Emitters = { PUSH: push, DUP: dup, SWAP: swap, POP: pop };
