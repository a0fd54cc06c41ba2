import { i32, i64, memory } from "../wasm/code.ts";
import { call, type FunctionRef } from "../wasm/function.ts";
import type { ModuleBuilder } from "../wasm/module.ts";
import type { GasFunctions } from "./gas.ts";
import { isSmall, limb } from "./words.ts";

/** G_copy, for each word */
const COPY_WORD_GAS = 3n;

export type CopyFunctions = {
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

  return { copyGas, copyPadded };
}
