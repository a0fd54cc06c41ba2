import { COPY_WORD_GAS } from "../../../params/gas.ts";
import { i32, i64, memory, v128 } from "../../../wasm/code.ts";
import { call, type FunctionRef } from "../../../wasm/function.ts";
import type { ModuleBuilder } from "../../../wasm/module.ts";
import { WORD } from "../../memory/layout.ts";
import { isSmall, limb } from "../words.ts";
import type { GasFunctions } from "./gas.ts";

export type CopyFunctions = {
  /** copy(to, from, size): the ranges may overlap */
  readonly copy: FunctionRef;
  /** copyGas(gas, offset, size): for a copy to memory; the arguments are addresses of words */
  readonly copyGas: FunctionRef;
  /** copyPadded(target, source, sourceSize, offset, size): as if zeros followed `source`; `offset` is the address of a word */
  readonly copyPadded: FunctionRef;
};

export function defineCopies(module: ModuleBuilder, gas: GasFunctions): CopyFunctions {
  const copyGas = module.define(["i64", "i32", "i32"], ["i64"], (f, gasLeft, offset, size) => {
    f.set(gasLeft!, call(gas.expand, gasLeft!, call(gas.rangeEnd, offset!, size!)));
    f.if(i64.ltS(gasLeft!, 0n), () => f.return(i64.of(gasLeft!)));
    const words = i64.shrU(i64.add(limb(size!, 0), 31n), 5n);
    f.return(call(gas.charge, gasLeft!, i64.mul(words, COPY_WORD_GAS)));
  });

  const copyPadded = module.define(
    ["i32", "i32", "i32", "i32", "i32"],
    [],
    (f, target, source, sourceSize, offset, size) => {
      const available = f.i32(0);
      f.if(i32.and(isSmall(offset!), i64.ltU(limb(offset!, 0), i64.extendU(sourceSize!))), () => {
        const begin = f.i32(i32.wrap(limb(offset!, 0)));
        f.set(available, i32.sub(sourceSize!, begin));
        f.set(available, i32.select(i32.ltU(size!, available), size!, available));
        f.do(memory.copy(target!, i32.add(source!, begin), available));
      });
      f.do(memory.fill(i32.add(target!, available), 0, i32.sub(size!, available)));
    },
  );

  // A word, what most calls return, goes by itself: to copy a range is a call into the runtime.
  const copy = module.define(["i32", "i32", "i32"], [], (f, to, from, size) => {
    f.if(
      i32.eq(size!, WORD),
      () => {
        const low = f.v128(v128.load(from!));
        const high = f.v128(v128.load(from!, 16));
        f.do(v128.store(to!, low), v128.store(to!, high, 16));
      },
      () => f.do(memory.copy(to!, from!, size!)),
    );
  });

  return { copy, copyGas, copyPadded };
}
