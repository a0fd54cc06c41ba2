import type { FunctionRef } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";
import type { Rules } from "../../rules.ts";
import { type CallFunctions, defineCalls } from "./calls.ts";
import { type CopyFunctions, defineCopies, defineKeccak, defineKeccakOfPair } from "./copies.ts";
import { defineGas, type GasFunctions } from "./gas.ts";
import { type Imports, importHost } from "./imports.ts";
import { defineJournal, type Journal } from "./journal.ts";
import { defineAppendLog } from "./logs.ts";
import { defineLongArithmetic, type LongArithmetic } from "./long-arithmetic.ts";
import { defineShifts, type Shifts } from "./shifts.ts";
import { defineStateGas, type StateGasFunctions } from "./state-gas.ts";
import { type AccessFunctions, defineAccess, defineStorage, type StorageFunctions } from "./storage.ts";

/** The functions the opcode emitters call. */
export type Runtime = {
  readonly rules: Rules;
  readonly imports: Imports;
  readonly gas: GasFunctions;
  readonly stateGas: StateGasFunctions;
  readonly journal: Journal;
  readonly long: LongArithmetic;
  readonly shifts: Shifts;
  readonly keccak: FunctionRef;
  readonly keccakOfPair: FunctionRef;
  readonly access: AccessFunctions;
  readonly copies: CopyFunctions;
  readonly storage: StorageFunctions;
  readonly calls: CallFunctions;
  readonly appendLog: FunctionRef;
};

export function defineRuntime(
  module: ModuleBuilder,
  rules: Rules,
  seed: readonly [bigint, bigint, bigint, bigint],
): Runtime {
  const imports = importHost(module);
  const gas = defineGas(module, imports.isOutOfTime);
  const stateGas = defineStateGas(module, gas);
  const journal = defineJournal(module, imports, seed);
  const keccak = defineKeccak(module);
  const access = defineAccess(module, rules, imports, gas, journal);
  return {
    rules,
    imports,
    gas,
    stateGas,
    journal,
    long: defineLongArithmetic(module),
    shifts: defineShifts(module),
    keccak,
    keccakOfPair: defineKeccakOfPair(module, keccak),
    access,
    copies: defineCopies(module, gas),
    storage: defineStorage(module, rules, { gas, stateGas, journal }),
    calls: defineCalls(module, rules, { imports, gas, stateGas, journal, access }),
    appendLog: defineAppendLog(module, imports),
  };
}
