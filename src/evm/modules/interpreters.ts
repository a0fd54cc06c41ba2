import { randomBytes } from "node:crypto";
import type { Hardfork } from "../../params/hardforks.ts";
import { compileModule, compileOptimised } from "../../wasm/compile.ts";
import { emitInterpreter } from "../gen/interpreter.ts";
import type { Build } from "../gen/loop.ts";
import { rulesOf } from "../rules.ts";
import { type Seed, seededModule } from "./seeded-module.ts";
import { STORED_INTERPRETERS } from "./stored-interpreters.ts";

/** What an interpreter module exports; every argument is an address in linear memory. */
export type Interpreter = {
  run(): number;
  find(owner: number, key: number): number;
  save(cell: number): void;
  mark(record: number, flags: number): void;
  revert(undoTop: number): void;
  addBalance(record: number, value: number): void;
  subBalance(record: number, value: number): void;
  hasBalance(record: number, value: number): number;
  isEmpty(record: number): number;
  keccak(bytes: number, size: number, target: number): void;
  pushFrame(saved: number, snapshot: number): void;
  beginCall(saved: number, snapshot: number): void;
  popFrame(saved: number, outcome: number, output: number, outputSize: number): void;
  endRequest(outcome: number, output: number, outputSize: number): void;
};

/** What it imports, as `gen/runtime.ts` declares it. */
export type HostFunctions = {
  isOutOfTime(): number;
  load(record: number): void;
  access(record: number): void;
  delegate(record: number): number;
  exhausted(): void;
  blockHash(word: number): void;
  extCodeCopy(record: number, target: number, offset: number, size: number): void;
  log(topicCount: number, data: number, size: number): void;
  step(): void;
};

const modules = new Map<string, WebAssembly.Module>();

/** The same for all interpreters of a process, since they share indexes; unknown to contract authors. */
const seed = Array.from({ length: 4 }, () => randomBytes(8).readBigUInt64LE()) as unknown as Seed;

export function createInterpreter(
  hardfork: Hardfork,
  build: Build,
  memory: WebAssembly.Memory,
  host: HostFunctions,
): Interpreter {
  return instantiate(moduleOf(hardfork, build), memory, host);
}

/** An interpreter that leaves at every border of a block with `exit.border`: it takes turns with a compiled contract in tests. */
export function createBorderedInterpreter(
  hardfork: Hardfork,
  memory: WebAssembly.Memory,
  host: HostFunctions,
): Interpreter {
  const bytes = emitInterpreter(rulesOf(hardfork), "fast", seed, { leavesAtBorders: true });
  return instantiate(compileModule(bytes), memory, host);
}

function instantiate(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  host: HostFunctions,
): Interpreter {
  const instance = new WebAssembly.Instance(module, { host: { ...host, memory } });
  return instance.exports as unknown as Interpreter;
}

/** The compiled interpreter of `hardfork`, emitted at its first use where the build has not done it. */
function moduleOf(hardfork: Hardfork, build: Build): WebAssembly.Module {
  const key = `${hardfork} ${build}`;
  let module = modules.get(key);
  if (module === undefined) {
    const stored = STORED_INTERPRETERS[key];
    const bytes =
      stored === undefined
        ? emitInterpreter(rulesOf(hardfork), build, seed)
        : seededModule(Buffer.from(stored, "base64"), seed);
    module = build === "fast" ? compileOptimised(bytes) : compileModule(bytes);
    modules.set(key, module);
  }
  return module;
}
