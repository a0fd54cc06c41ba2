import { randomBytes } from "node:crypto";
import type { Hardfork } from "../../../base/params/hardforks.ts";
import { compileModule, compileOptimised } from "../../../base/wasm/compile.ts";
import { emitInterpreter } from "../gen/interpreter.ts";
import type { Build } from "../gen/loop.ts";
import { rulesOf } from "../rules.ts";
import { storedInterpreter } from "./stored-interpreters.ts";

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
  hasRoom(record: number, value: number): number;
  isEmpty(record: number): number;
  reach(record: number): void;
  keccak(bytes: number, size: number, target: number): void;
  pushFrame(saved: number, snapshot: number): void;
  beginCall(saved: number, snapshot: number): void;
  popFrame(saved: number, outcome: number, output: number, outputSize: number): void;
  endRequest(outcome: number, output: number, outputSize: number): void;
  leaveFrame(outcome: number): void;
  chargeFrame(execution: number, state: number): number;
  forwardGas(): void;
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

function instantiate(module: WebAssembly.Module, memory: WebAssembly.Memory, host: HostFunctions): Interpreter {
  const instance = new WebAssembly.Instance(module, { host: { ...host, memory } });
  return instance.exports as unknown as Interpreter;
}

/** The compiled interpreter of `hardfork`, emitted at its first use where the build has not done it. */
function moduleOf(hardfork: Hardfork, build: Build): WebAssembly.Module {
  const key = `${hardfork} ${build}`;
  let module = modules.get(key);
  if (module === undefined) {
    const stored = storedInterpreter(key);
    const bytes = stored === undefined ? emitInterpreter(rulesOf(hardfork), build, seed) : seededModule(stored, seed);
    module = build === "fast" ? compileOptimised(bytes) : compileModule(bytes);
    modules.set(key, module);
  }
  return module;
}

/** The four keys of an interpreter's hash function, each a u64. */
export type Seed = readonly [bigint, bigint, bigint, bigint];

/** Takes the place of the seed in a module that is emitted once and used by many processes. As i64 constants they have the longest form. */
export const TEMPLATE_SEED: Seed = [
  0x6a09_e667_f3bc_c909n,
  0x7c15_9e37_79b9_7f4bn,
  0x4cf5_ad43_2745_937fn,
  0x52dc_e729_94d0_49bbn,
];

/** Bytes of the longest i64 constant. */
const CONSTANT_BYTES = 10;

/** `template`, a module emitted with `TEMPLATE_SEED`, as `seed` would have made it: the same but for the length of its constants. */
export function seededModule(template: Uint8Array, seed: Seed): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(template);
  const buffer = Buffer.from(bytes.buffer);
  for (const [i, key] of TEMPLATE_SEED.entries()) {
    const [old, constant] = [longestForm(key), longestForm(seed[i]!)];
    for (let at = buffer.indexOf(old); at >= 0; at = buffer.indexOf(old, at + CONSTANT_BYTES)) {
      bytes.set(constant, at);
    }
  }
  return bytes;
}

/** Signed LEB128 of the key as the hash function multiplies by it, odd, in ten bytes whatever its value. */
function longestForm(key: bigint): Uint8Array {
  const value = BigInt.asIntN(64, key | 1n);
  const bytes = new Uint8Array(CONSTANT_BYTES);
  for (let i = 0; i < CONSTANT_BYTES; i++) {
    const isLast = i === CONSTANT_BYTES - 1;
    bytes[i] = Number((value >> BigInt(7 * i)) & 0x7fn) | (isLast ? 0 : 0x80);
  }
  return bytes;
}
