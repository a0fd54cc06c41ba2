import { MEMORY_QUADRATIC_SHIFT, MEMORY_WORD_GAS } from "../../../../base/params/gas.ts";
import { i32, i64, memory } from "../../../../base/wasm/code.ts";
import { call, type FunctionRef } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";
import { haltCode } from "../../halts.ts";
import { frame, globals, PAGE } from "../../memory/layout.ts";
import { isSmall, isZeroWord, limb } from "../words.ts";

/** geth's 0x1FFFFFFFE0: more memory would cost more gas than 64 bits hold. */
export const MEMORY_SIZE_MAX = 0x1fffffffe0n;

/** What `rangeEnd` answers for a range that ends beyond 2^64. */
const BEYOND = -1n;

/** Linear memory grows by at least this many pages, since each growth costs a system call. */
const GROWTH_PAGES = 16;

export type GasFunctions = {
  /**
   * refillGas(gas): for gas below zero, takes the missing amount and another slice from the reserve. If the result is still
   * below zero, the call is out of gas, or out of time if `globals.halt` is set to that.
   */
  readonly refillGas: FunctionRef;
  /** charge(gas, cost): gas after cost, lent if need be; below zero: out of gas */
  readonly charge: FunctionRef;
  /** rangeEnd(offset, size): end of a memory range given by the addresses of two words; 0 for an empty one */
  readonly rangeEnd: FunctionRef;
  /** expand(gas, end): charges for memory up to `end` and provides it (Yellow Paper, appendix H.1, C_mem) */
  readonly expand: FunctionRef;
  /**
   * expandTo(gas, unpaid, low, high, size): as expand, to `size` bytes after the offset `low`, which is far beyond any memory
   * where `high` is not 0. `unpaid` gas is still to be taken off `gas`, and off the result as well.
   */
  readonly expandTo: FunctionRef;
};

/** Gas is lent in slices when a call has a deadline, so loops need no separate counter. */
export function defineGas(module: ModuleBuilder, isOutOfTime: FunctionRef): GasFunctions {
  const refillGas = module.define(["i64"], ["i64"], (f, gas_) => {
    const gas = gas_!;
    f.if(i64.geU(gas, 1n << 63n), () => {
      const reserve = f.i64(i64.load(globals.reserve));
      f.if(i64.ltS(i64.add(gas, reserve), 0n), () => f.return(i64.of(gas)));
      f.if(i64.eqz(reserve), () => f.return(i64.of(gas)));
      f.if(call(isOutOfTime), () => {
        f.do(i32.store(globals.halt, haltCode.timeout));
        f.return(i64.of(gas));
      });
      const wanted = f.i64(i64.sub(i64.load(globals.slice), gas));
      const taken = f.i64(i64.select(i64.ltU(reserve, wanted), reserve, wanted));
      f.do(i64.store(globals.reserve, i64.sub(reserve, taken)));
      f.set(gas, i64.add(gas, taken));
    });
    f.return(i64.of(gas));
  });

  const charge = module.define(["i64", "i64"], ["i64"], (f, gas, cost) => {
    f.set(gas!, i64.sub(gas!, cost!));
    f.if(i64.ltS(gas!, 0n), () => f.set(gas!, call(refillGas, gas!)));
    f.return(i64.of(gas!));
  });

  const rangeEnd = module.define(["i32", "i32"], ["i64"], (f, offset, size) => {
    f.if(isZeroWord(size!), () => f.return(i64.of(0n)));
    f.if(i32.eqz(i32.and(isSmall(offset!), isSmall(size!))), () => f.return(i64.of(BEYOND)));
    const end = f.i64(i64.add(limb(offset!, 0), limb(size!, 0)));
    f.if(i64.ltU(end, limb(offset!, 0)), () => f.return(i64.of(BEYOND)));
    // Rounded up to words it must still fit.
    f.if(i64.gtU(end, -32n), () => f.return(i64.of(BEYOND)));
    f.return(i64.of(end));
  });

  const expand = module.define(["i64", "i64"], ["i64"], (f, gas_, end_) => {
    const gas = gas_!;
    const end = end_!;
    const fail = (code: number) => {
      f.do(i32.store(globals.halt, code));
      f.return(i64.of(-1n));
    };
    const size = f.i64(i64.load32(frame.memorySize));
    f.if(i64.leU(end, size), () => f.return(i64.of(gas)));
    f.if(i64.eq(end, BEYOND), () => fail(haltCode.gasUintOverflow));
    f.if(i64.gtU(end, MEMORY_SIZE_MAX), () => fail(haltCode.outOfGasOverflow));
    const words = f.i64(i64.shrU(i64.add(end, 31n), 5n));
    const cost = (of: typeof words) =>
      i64.add(i64.mul(of, MEMORY_WORD_GAS), i64.shrU(i64.mul(of, of), MEMORY_QUADRATIC_SHIFT));
    const oldWords = f.i64(i64.shrU(size, 5n));
    f.set(gas, call(charge, gas, i64.sub(cost(words), cost(oldWords))));
    f.if(i64.ltS(gas, 0n), () => f.return(i64.of(gas)));

    const base = f.i64(i64.load32(frame.memory));
    const newSize = f.i64(i64.shl(words, 5n));
    const newEnd = f.i64(i64.add(base, newSize));
    // Return data of the last call lies after the memory and moves up before it.
    const returnSize = f.i64(i64.load32(frame.returnDataSize));
    const need = f.i64(i64.add(newEnd, i64.add(returnSize, 64n)));
    f.if(i64.gtU(need, i64.load32(globals.memoryLimit)), () => {
      // A step that is priced again changes nothing, so it needs only the gas.
      f.if(i32.eqz(i32.load(globals.memoryLimit)), () => f.return(i64.of(gas)));
      fail(haltCode.memoryLimit);
    });
    const have = f.i64(i64.shl(i64.extendU(memory.size), 16n));
    f.if(i64.gtU(need, have), () => {
      const missing = i32.wrap(i64.shrU(i64.add(i64.sub(need, have), BigInt(PAGE - 1)), 16n));
      const pages = f.i32(missing);
      f.if(i32.eq(memory.grow(i32.add(pages, GROWTH_PAGES)), -1), () => {
        f.if(i32.eq(memory.grow(pages), -1), () => fail(haltCode.memoryLimit));
      });
    });
    f.if(i64.ne(returnSize, 0n), () => {
      const returnData = f.i32(i32.load(frame.returnData));
      f.if(i32.ltU(returnData, i32.wrap(newEnd)), () => {
        f.do(memory.copy(i32.wrap(newEnd), returnData, i32.wrap(returnSize)));
        f.do(i32.store(frame.returnData, i32.wrap(newEnd)));
      });
    });
    f.do(
      memory.fill(i32.wrap(i64.add(base, size)), 0, i32.wrap(i64.sub(newSize, size))),
      i64.store32(frame.memorySize, newSize),
    );
    f.return(i64.of(gas));
  });

  const expandTo = module.define(["i64", "i64", "i64", "i64", "i64"], ["i64"], (f, gas, unpaid, low, high, size) => {
    const paid = f.i64(call(charge, gas!, unpaid!));
    f.if(i64.ltS(paid, 0n), () => f.return(i64.of(paid)));
    const end = f.i64(i64.add(low!, size!));
    // Rounded up to words it must fit 64 bits.
    const isBeyond = i32.or(i64.ne(high!, 0n), i32.or(i64.ltU(end, low!), i64.gtU(end, -32n)));
    f.set(paid, call(expand, paid, i64.select(isBeyond, BEYOND, end)));
    f.if(i64.ltS(paid, 0n), () => f.return(i64.of(paid)));
    f.return(i64.add(paid, unpaid!));
  });

  return { refillGas, charge, rangeEnd, expand, expandTo };
}
