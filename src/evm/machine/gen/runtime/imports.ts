import { call, type FunctionRef } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";

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
  /** log(topicCount, data, size): the running frame emits a log; its topics are stored at LOG_TOPICS. */
  readonly log: FunctionRef;
  /** The per-opcode build is about to run the opcode at `frame.pc`. */
  readonly step: FunctionRef;
};

/**
 * The interpreter loop calls imports through functions of the module: V8 reads the target of an import ahead of the loop
 * it belongs to, which every segment would pay for.
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
