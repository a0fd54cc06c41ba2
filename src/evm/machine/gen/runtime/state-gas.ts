import { i64 } from "../../../../base/wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";
import { frame, globals } from "../../memory/layout.ts";
import type { GasFunctions } from "./gas.ts";

export type StateGasFunctions = {
  /** charge(gas, cost): takes `cost` from the reservoir and the rest from `gas`; below zero: out of gas */
  readonly charge: FunctionRef;
  /** refill(gas, amount): gives back what was charged last: first to `gas`, what it lent, then to the reservoir */
  readonly refill: FunctionRef;
};

/**
 * EIP-8037: the gas of what the state grows by. It comes out of a reservoir that all frames of the transaction share and, where that is
 * empty, out of the gas of the running frame, which notes what it lent in `frame.spilled`.
 */
export function defineStateGas(module: ModuleBuilder, gas: GasFunctions): StateGasFunctions {
  const charge = module.define(["i64", "i64"], ["i64"], (f, gasLeft, cost) => {
    const reservoir = f.i64(i64.load(globals.reservoir));
    f.if(i64.geU(reservoir, cost!), () => {
      f.do(i64.store(globals.reservoir, i64.sub(reservoir, cost!)));
      f.return(i64.of(gasLeft!));
    });
    const rest = f.i64(i64.sub(cost!, reservoir));
    f.set(gasLeft!, call(gas.charge, gasLeft!, rest));
    f.if(i64.ltS(gasLeft!, 0n), () => f.return(i64.of(gasLeft!)));
    f.do(i64.store(globals.reservoir, 0n), i64.store(frame.spilled, i64.add(i64.load(frame.spilled), rest)));
    f.return(i64.of(gasLeft!));
  });

  const refill = module.define(["i64", "i64"], ["i64"], (f, gasLeft, amount) => {
    const lent = f.i64(i64.load(frame.spilled));
    const back = f.i64(i64.select(i64.ltU(lent, amount!), lent, amount!));
    f.do(
      i64.store(frame.spilled, i64.sub(lent, back)),
      i64.store(globals.reservoir, i64.add(i64.load(globals.reservoir), i64.sub(amount!, back))),
    );
    f.return(i64.add(gasLeft!, back));
  });

  return { charge, refill };
}

/** Adds what a call left to the running frame, which gets back what it lent where the reservoir has it again. */
export function takeOverStateGas(f: FunctionBuilder): void {
  const spilled = f.i64(i64.add(i64.load(frame.spilled), i64.load(globals.spilledBack)));
  const reservoir = f.i64(i64.load(globals.reservoir));
  const repaid = f.i64(i64.select(i64.ltU(reservoir, spilled), reservoir, spilled));
  f.do(
    i64.store(frame.gas, i64.add(i64.load(frame.gas), repaid)),
    i64.store(frame.spilled, i64.sub(spilled, repaid)),
    i64.store(globals.reservoir, i64.sub(reservoir, repaid)),
  );
}

/** The refill of `amount` for the running frame, while its gas is in its register in memory. */
export function refillFrame(f: FunctionBuilder, { refill }: StateGasFunctions, amount: bigint): void {
  f.do(i64.store(frame.gas, call(refill, i64.load(frame.gas), amount)));
}
