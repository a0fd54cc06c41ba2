import { v128 } from "../../../wasm/code.ts";
import { WORD } from "../../memory/layout.ts";
import { copyWord, reverseBytes, storeZero, ZERO_HALF } from "../words.ts";
import type { Emitter, Emitters } from "./emitter.ts";
import { jumpAfterPush2 } from "./jumps.ts";

/** Each half of the word is up to 16 bytes of the immediate reversed; the bytes after code are readable. */
const push: Emitter = (loop, { code }) => {
  const { f, pc, sp } = loop;
  const size = code - 0x5f;
  if (size === 2) jumpAfterPush2(loop);
  loop.grow();
  if (size === 0) {
    storeZero(f, sp);
    loop.next();
    return;
  }
  const highSize = Math.max(0, size - 16);
  const high = highSize === 0 ? ZERO_HALF : reverseBytes(v128.load(pc, 1), highSize);
  const low = reverseBytes(v128.load(pc, 1 + highSize), size - highSize);
  f.do(v128.store(sp, low), v128.store(sp, high, 16));
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
