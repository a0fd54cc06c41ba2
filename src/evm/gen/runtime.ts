import type { Rules } from "../rules.ts";
import { call, type FunctionRef } from "../wasm/function.ts";
import type { ModuleBuilder } from "../wasm/module.ts";
import { defineGas, type GasFunctions } from "./gas.ts";
import { defineJournal, type Journal } from "./journal.ts";
import { type AccessFunctions, defineAccess } from "./opcodes/access.ts";
import { type CallFunctions, defineCalls } from "./opcodes/calls.ts";
import { type CopyFunctions, defineCopies } from "./opcodes/copies.ts";
import { defineKeccak, defineKeccakOfPair } from "./opcodes/keccak.ts";
import { defineAppendLog } from "./opcodes/logs.ts";
import { defineLongArithmetic, type LongArithmetic } from "./opcodes/long-arithmetic.ts";
import { defineShifts, type Shifts } from "./opcodes/shifts.ts";
import { defineStorage, type StorageFunctions } from "./opcodes/storage.ts";

/** What the emitted code asks of TypeScript. No 64-bit number crosses, since each would become a bigint. */
export type Imports = {
  /** 1 when the deadline has passed */
  readonly isOutOfTime: FunctionRef;
  /** load(record) fills a new record. */
  readonly load: FunctionRef;
  /** access(record): an opcode looked at it, for the first time or for the first time since a revert. */
  readonly access: FunctionRef;
  /** delegate(record): the record of the account whose code a delegated account runs (EIP-7702) */
  readonly delegate: FunctionRef;
  /** Throws: a region of linear memory is full. */
  readonly exhausted: FunctionRef;
  /** blockHash(word): replaces a block number by the block's hash or 0. */
  readonly blockHash: FunctionRef;
  /** extCodeCopy(record, target, offsetWord, size) */
  readonly extCodeCopy: FunctionRef;
  /** log(topicCount, data, size): the running frame emits a log; its topics stand at LOG_TOPICS. */
  readonly log: FunctionRef;
  /** The per-opcode build is about to run the opcode at `frame.pc`. */
  readonly step: FunctionRef;
};

/** The functions the opcode emitters call. */
export type Runtime = {
  readonly rules: Rules;
  readonly imports: Imports;
  readonly gas: GasFunctions;
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

/**
 * The interpreter loop calls imports through functions of the module: V8 reads the target of an import ahead of the loop
 * it stands in, which every segment would pay for.
 */
export function importHost(module: ModuleBuilder): Imports {
  const imports = {
    isOutOfTime: module.import("isOutOfTime", [], ["i32"]),
    load: module.import("load", ["i32"], []),
    access: module.import("access", ["i32"], []),
    delegate: module.import("delegate", ["i32"], ["i32"]),
    exhausted: module.import("exhausted", [], []),
    blockHash: module.import("blockHash", ["i32"], []),
    extCodeCopy: module.import("extCodeCopy", ["i32", "i32", "i32", "i32"], []),
    log: module.import("log", ["i32", "i32", "i32"], []),
    step: module.import("step", [], []),
  };
  const forward = (target: FunctionRef) =>
    module.define(target.params, target.results, (f, ...params) => f.do(call(target, ...params)));
  return {
    ...imports,
    blockHash: forward(imports.blockHash),
    extCodeCopy: forward(imports.extCodeCopy),
    step: forward(imports.step),
  };
}

export function defineRuntime(
  module: ModuleBuilder,
  rules: Rules,
  seed: readonly [bigint, bigint, bigint, bigint],
): Runtime {
  const imports = importHost(module);
  const gas = defineGas(module, imports.isOutOfTime);
  const journal = defineJournal(module, imports, seed);
  const keccak = defineKeccak(module);
  const access = defineAccess(module, rules, imports, gas, journal);
  return {
    rules,
    imports,
    gas,
    journal,
    long: defineLongArithmetic(module),
    shifts: defineShifts(module),
    keccak,
    keccakOfPair: defineKeccakOfPair(module, keccak),
    access,
    copies: defineCopies(module, gas),
    storage: defineStorage(module, rules, gas, journal),
    calls: defineCalls(module, rules, imports, gas, journal, access),
    appendLog: defineAppendLog(module, imports),
  };
}
