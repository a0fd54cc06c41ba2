import { type Code, i32, i64, type Local, type Operand } from "../../../../base/wasm/code.ts";
import type { FunctionBuilder, FunctionRef } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";
import { WORD } from "../../memory/layout.ts";
import { isSmall, limb, loadWord, storeWord } from "../words.ts";

/** SHL, SHR, SAR (EIP-145) and SIGNEXTEND; each takes the stack pointer: amount on top, value under it. */
export type Shifts = {
  readonly shl: FunctionRef;
  readonly shr: FunctionRef;
  readonly sar: FunctionRef;
  readonly signextend: FunctionRef;
};

export function defineShifts(module: ModuleBuilder): Shifts {
  const onStack = (build: (f: FunctionBuilder, sp: Local) => void) =>
    module.define(["i32"], [], (f, sp) => build(f, sp!));

  /** Leaves the function with all limbs `fill` when the amount is 256 or more. */
  const leaveIfTooFar = (f: FunctionBuilder, sp: Local, fill: Operand) => {
    f.if(i32.eqz(i32.and(isSmall(sp), i64.ltU(limb(sp, 0), 256n))), () => {
      storeWord(f, sp, [fill, fill, fill, fill], WORD);
      f.return();
    });
  };

  /** Shifts by 64·k first (whole limbs), then by the rest; (x << 1) << (63 − s) is x << (64 − s), also for s = 0. */
  const shiftRight = (isSigned: boolean) =>
    onStack((f, sp) => {
      const fill = f.i64(isSigned ? i64.shrS(limb(sp, 3, WORD), 63n) : 0n);
      leaveIfTooFar(f, sp, fill);
      const amount = f.i64(limb(sp, 0));
      const x = [...loadWord(f, sp, WORD), fill];
      const moveLimbs = (bit: bigint, by: number) =>
        f.if(i32.wrap(i64.and(amount, bit)), () => {
          for (let i = 0; i < 4; i++) f.set(x[i]!, x[Math.min(i + by, 4)]!);
        });
      moveLimbs(128n, 2);
      moveLimbs(64n, 1);
      const rest = f.i64(i64.and(amount, 63n));
      const back = f.i64(i64.sub(63n, rest));
      const shifted = [0, 1, 2, 3].map(
        (i): Code => i64.or(i64.shrU(x[i]!, rest), i64.shl(i64.shl(x[i + 1]!, 1n), back)),
      );
      storeWord(f, sp, shifted, WORD);
    });

  const shl = onStack((f, sp) => {
    leaveIfTooFar(f, sp, 0n);
    const amount = f.i64(limb(sp, 0));
    const x = loadWord(f, sp, WORD);
    const moveLimbs = (bit: bigint, by: number) =>
      f.if(i32.wrap(i64.and(amount, bit)), () => {
        for (let i = 3; i >= 0; i--) f.set(x[i]!, i >= by ? x[i - by]! : 0n);
      });
    moveLimbs(128n, 2);
    moveLimbs(64n, 1);
    const rest = f.i64(i64.and(amount, 63n));
    const back = f.i64(i64.sub(63n, rest));
    const shifted = [0, 1, 2, 3].map((i): Code => {
      const own = i64.shl(x[i]!, rest);
      return i === 0 ? own : i64.or(own, i64.shrU(i64.shrU(x[i - 1]!, 1n), back));
    });
    storeWord(f, sp, shifted, WORD);
  });

  /** SIGNEXTEND: bits above bit 8·(k+1) − 1 become copies of it; k of 31 or more changes nothing. */
  const signextend = onStack((f, sp) => {
    f.if(i32.eqz(i32.and(isSmall(sp), i64.ltU(limb(sp, 0), 31n))), () => f.return());
    const bit = f.i64(i64.add(i64.shl(limb(sp, 0), 3n), 7n));
    const at = f.i32(i32.add(sp, i32.shl(i32.wrap(i64.shrU(bit, 6n)), 3)));
    const unused = f.i64(i64.sub(63n, i64.and(bit, 63n)));
    const extended = f.i64(i64.shrS(i64.shl(i64.load(at, WORD), unused), unused));
    f.do(i64.store(at, extended, WORD));
    const sign = f.i64(i64.shrS(extended, 63n));
    for (const i of [1, 2, 3]) {
      f.if(i64.ltU(i64.shrU(bit, 6n), BigInt(i)), () => f.do(i64.store(sp, sign, WORD + 8 * i)));
    }
  });

  return { shl, shr: shiftRight(false), sar: shiftRight(true), signextend };
}
