/** What compiled contracts cost: time until one is hot, memory of many, and the longest call while 10,000 contracts are called in turn. */

import type { Address } from "../../src/base/primitives/address.ts";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { SILENT_LOGGER } from "../../src/base/telemetry/logger.ts";
import { createMetrics } from "../../src/base/telemetry/metrics.ts";
import { createEvm } from "../../src/evm/machine/engine.ts";
import { createWorldState } from "../../src/evm/state/world-state.ts";
import { HOT_GAS_PER_BYTE } from "../../src/node/compiled-contracts/compiled-modules.ts";
import { ThreadedCompiler } from "../../src/node/compiled-contracts/threaded-compiler.ts";
import { testBlock, testMessage } from "../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../test/support/evm/state/memory-state.ts";
import { printTable, writeResult } from "../support/report.ts";
import { PROGRAMS, type Program } from "./programs.ts";

const CONTRACTS = 10_000;
/** Each takes some 80 ms to compile. */
const HOT_CONTRACTS = 1_000;
const CACHE_BYTES = 200 * 2 ** 20;
const MEGABYTE = 2 ** 20;
const GAS = 100_000_000n;

const block = testBlock({ gasLimit: 10n ** 12n });

export async function run(): Promise<void> {
  const fibonacci = PROGRAMS.find(({ name }) => name === "fibonacci")!;
  const rows = [...(await untilHot(fibonacci)), ...(await memoryOfHot(fibonacci)), ...(await inTurn())];
  printTable(rows);
  writeResult("evm-hot-contracts", rows);
}

function startEngine(hotGasPerByte: number) {
  const metrics = createMetrics();
  const compiler = new ThreadedCompiler(
    { cacheBytesMax: CACHE_BYTES },
    { log: SILENT_LOGGER, timers: fatalTimers, metrics },
  );
  return { compiler, metrics, evm: createEvm({ tier: { compiler, hotGasPerByte } }) };
}

/** Milliseconds of one call of `code`. */
function timeCall(evm: ReturnType<typeof createEvm>, { code, data }: Pick<Program, "code" | "data">) {
  const to = `0x${"cc".repeat(20)}` as Address;
  const state = createWorldState(createMemoryState());
  state.setAccount(to, { nonce: 1n, balance: 0n, codeHash: state.putCode(code) });
  const begun = performance.now();
  evm.execute(testMessage({ to, data, gas: GAS }), block, state);
  return performance.now() - begun;
}

/** The event loop gets a turn, in which a module that is finished arrives. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

async function untilHot(program: Program) {
  const { compiler, metrics, evm } = startEngine(HOT_GAS_PER_BYTE);
  const begun = performance.now();
  let calls = 0;
  while (!metrics.exposition().includes("evmint_compiled_contracts 1")) {
    timeCall(evm, program);
    calls++;
    await turn();
  }
  const ms = performance.now() - begun;
  compiler.close();
  const name = `${program.name}, called until its module is there`;
  return [
    { case: name, figure: "calls", value: calls },
    { case: name, figure: "ms", value: ms },
  ];
}

/** The same contract many times, each with another end. */
async function memoryOfHot(program: Program) {
  const { compiler, metrics, evm } = startEngine(0);
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const selector = program.data.slice(0, 4);
  for (let n = 0; n < HOT_CONTRACTS; n++) {
    const code = numbered(program.code, n);
    timeCall(evm, { code, data: selector });
    while (compiler.waiting > 0) await turn();
    timeCall(evm, { code, data: selector });
  }
  globalThis.gc?.();
  const more = (process.memoryUsage().rss - before) / MEGABYTE;
  const count = Number(/evmint_compiled_contracts (\d+)/.exec(metrics.exposition())?.[1]);
  compiler.close();
  const name = `${HOT_CONTRACTS} hot contracts of ${program.code.length} bytes`;
  return [
    { case: name, figure: "compiled in memory", value: count },
    { case: name, figure: "resident MB more", value: more },
  ];
}

/** Contracts that are hot at once: no call may wait for the compiler. */
async function inTurn() {
  const { compiler, evm } = startEngine(0);
  const loop = PROGRAMS.find(({ name }) => name === "memory")!;
  const times: number[] = [];
  for (let n = 0; n < CONTRACTS; n++) {
    const code = numbered(loop.code.slice(), n);
    // A loop of 200 turns instead of 200,000.
    code.set([0, 0, 200], 1);
    for (let call = 0; call < 2; call++) {
      times.push(timeCall(evm, { code, data: loop.data }));
      await turn();
    }
  }
  compiler.close();
  times.sort((a, b) => a - b);
  const name = `${CONTRACTS} contracts in turn, each called twice and compiled as the thread is free`;
  return [
    { case: name, figure: "p50 ms", value: times[CONTRACTS]! },
    { case: name, figure: "p99 ms", value: times[Math.floor(2 * CONTRACTS * 0.99)]! },
    { case: name, figure: "longest ms", value: times.at(-1)! },
  ];
}

function numbered(code: Uint8Array, n: number): Uint8Array {
  const result = new Uint8Array(code.length + 5);
  result.set(code);
  result.set([0xfe, n >>> 24, n >>> 16, n >>> 8, n], code.length);
  return result;
}
