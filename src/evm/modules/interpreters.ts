import { randomBytes } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import type { Hardfork } from "../../params/hardforks.ts";
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
  return instantiate(new WebAssembly.Module(bytes), memory, host);
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
    module = build === "fast" ? compileOptimised(bytes) : new WebAssembly.Module(bytes);
    modules.set(key, module);
  }
  return module;
}

/** V8's default: as many threads as it has. */
const V8_COMPILATION_TASKS = 128;

/**
 * V8 cannot replace a running baseline function, so a first long call would stay slow. Compiling optimised code at once
 * takes some 20 ms. The flags are for the whole process and put back at once.
 *
 * @param threads that may compile at once
 */
export function compileOptimised(
  bytes: Uint8Array<ArrayBuffer>,
  { threads = V8_COMPILATION_TASKS } = {},
): WebAssembly.Module {
  setFlagsFromString(`--wasm-num-compilation-tasks=${threads}`);
  setFlagsFromString("--no-liftoff");
  setFlagsFromString("--no-wasm-lazy-compilation");
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    setFlagsFromString(`--wasm-num-compilation-tasks=${V8_COMPILATION_TASKS}`);
    setFlagsFromString("--liftoff");
    setFlagsFromString("--wasm-lazy-compilation");
    // Implied by `--no-liftoff`. Left off, it would make V8 reject the code cache this process writes (bin/load-bundle.cjs).
    setFlagsFromString("--wasm-dynamic-tiering");
  }
}
