import { i32, i64, type Local, type Operand } from "../../../../base/wasm/code.ts";
import { call, type FunctionRef } from "../../../../base/wasm/function.ts";
import { WORD } from "../../memory/layout.ts";
import type { Loop } from "../loop.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { limb, loadWord, multiplyHigh, orAll, storeSmall, storeWord } from "../words.ts";
import type { Emitter, Emitters } from "./emitter.ts";

/** Writes the result over the second operand and drops the first. */
function finish({ f, sp }: Loop, limbs: readonly Operand[]): void {
  storeWord(f, sp, limbs, WORD);
}

function advance(loop: Loop, dropped = 1): void {
  loop.drop(dropped);
  loop.next();
}

const add: Emitter = (loop) => {
  const { f, sp } = loop;
  let carry: Local | undefined;
  for (let i = 0; i < 4; i++) {
    const a = f.i64(limb(sp, i));
    const sum = f.i64(i64.add(a, limb(sp, i, WORD)));
    const overflow = i64.ltU(sum, a);
    if (carry === undefined) {
      carry = f.i64(i64.extendU(overflow));
      f.do(i64.store(sp, sum, WORD));
      continue;
    }
    const total = f.i64(i64.add(sum, carry));
    f.do(i64.store(sp, total, WORD + 8 * i));
    if (i < 3) f.set(carry, i64.extendU(i32.or(overflow, i64.ltU(total, sum))));
  }
  advance(loop);
};

const sub: Emitter = (loop) => {
  const { f, sp } = loop;
  let borrow: Local | undefined;
  for (let i = 0; i < 4; i++) {
    const a = f.i64(limb(sp, i));
    const b = f.i64(limb(sp, i, WORD));
    const difference = f.i64(i64.sub(a, b));
    if (borrow === undefined) {
      borrow = f.i64(i64.extendU(i64.ltU(a, b)));
      f.do(i64.store(sp, difference, WORD));
      continue;
    }
    f.do(i64.store(sp, i64.sub(difference, borrow), WORD + 8 * i));
    if (i < 3) f.set(borrow, i64.extendU(i32.or(i64.ltU(a, b), i64.ltU(difference, borrow))));
  }
  advance(loop);
};

/** Non-zero when either operand has more than 64 bits. */
function highBits({ sp }: Loop) {
  return orAll([1, 2, 3].flatMap((i) => [limb(sp, i), limb(sp, i, WORD)]));
}

const mul: Emitter = (loop) => {
  const { f, sp, runtime } = loop;
  f.if(
    i64.eqz(highBits(loop)),
    () =>
      f.scope(() => {
        const a = f.i64(limb(sp, 0));
        const b = f.i64(limb(sp, 0, WORD));
        const high = f.i64(multiplyHigh(f, a, b));
        finish(loop, [i64.mul(a, b), high]);
      }),
    () => {
      const second = i32.add(sp, WORD);
      f.do(call(runtime.long.multiply, sp, second, second));
    },
  );
  advance(loop);
};

/** DIV and MOD: numbers of 64 bits by one instruction, others by long division; x / 0 = 0. */
function division(short: (a: Operand, b: Operand) => Operand, long: (runtime: Runtime) => FunctionRef): Emitter {
  return (loop) => {
    const { f, sp, runtime } = loop;
    f.if(
      i64.eqz(highBits(loop)),
      () => f.if(i64.ne(limb(sp, 0, WORD), 0n), () => f.do(i64.store(sp, short(limb(sp, 0), limb(sp, 0, WORD)), WORD))),
      () => f.do(call(long(runtime), sp)),
    );
    advance(loop);
  };
}

/** SDIV and SMOD: as division, when both are below 2^63 and so positive. */
function signedDivision(short: (a: Operand, b: Operand) => Operand, long: (runtime: Runtime) => FunctionRef): Emitter {
  return (loop) => {
    const { f, sp, runtime } = loop;
    const signs = i64.shrU(i64.or(limb(sp, 0), limb(sp, 0, WORD)), 63n);
    f.if(
      i64.eqz(i64.or(highBits(loop), signs)),
      () => f.if(i64.ne(limb(sp, 0, WORD), 0n), () => f.do(i64.store(sp, short(limb(sp, 0), limb(sp, 0, WORD)), WORD))),
      () => f.do(call(long(runtime), sp)),
    );
    advance(loop);
  };
}

function byFunction(pops: number, pick: (runtime: Runtime) => FunctionRef): Emitter {
  return (loop) => {
    loop.f.do(call(pick(loop.runtime), loop.sp));
    advance(loop, pops - 1);
  };
}

const exp: Emitter = (loop) => {
  const { f, sp, runtime } = loop;
  const bits = f.i64(0n);
  for (const i of [0, 1, 2, 3]) {
    f.if(i64.ne(limb(sp, i, WORD), 0n), () => f.set(bits, i64.sub(64n * BigInt(i + 1), i64.clz(limb(sp, i, WORD)))));
  }
  const bytes = i64.shrU(i64.add(bits, 7n), 3n);
  loop.charge(i64.mul(bytes, runtime.rules.expByteGas));
  loop.charged();
  f.do(call(runtime.long.exp, sp));
  advance(loop);
};

/** EIP-7939: leading zero bits; 256 for 0. */
const clz: Emitter = (loop) => {
  const { f, sp } = loop;
  const zeros = f.i64(256n);
  const limbs = loadWord(f, sp);
  for (const i of [0, 1, 2, 3]) {
    f.if(i64.ne(limbs[i]!, 0n), () => f.set(zeros, i64.add(64n * BigInt(3 - i), i64.clz(limbs[i]!))));
  }
  storeSmall(f, sp, zeros);
  loop.next();
};

export const ARITHMETIC: Emitters = {
  ADD: add,
  SUB: sub,
  MUL: mul,
  DIV: division(i64.divU, (runtime) => runtime.long.div),
  MOD: division(i64.remU, (runtime) => runtime.long.mod),
  SDIV: signedDivision(i64.divU, (runtime) => runtime.long.sdiv),
  SMOD: signedDivision(i64.remU, (runtime) => runtime.long.smod),
  ADDMOD: byFunction(3, (runtime) => runtime.long.addmod),
  MULMOD: byFunction(3, (runtime) => runtime.long.mulmod),
  EXP: exp,
  SIGNEXTEND: byFunction(2, (runtime) => runtime.shifts.signextend),
  CLZ: clz,
};
