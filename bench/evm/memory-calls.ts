/** Child of memory.ts: a node in this process, a great many heavy eth_calls, and what the process holds before and after. */
import { setTimeout as sleep } from "node:timers/promises";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { createNode, type EvmintNode } from "../../src/index.ts";
import { assemble } from "./programs.ts";

/** Of each program: 10,000 in all. */
const CALLS = 2000;
/** Enough to fill caches of bounded size and to have everything compiled. */
const WARM_UP_CALLS = 300;
const CONTRACT = `0x${"cc".repeat(20)}`;
const MEGABYTE = 2 ** 20;

type HeavyProgram = {
  readonly name: string;
  readonly gas: bigint;
  /** The contract's code in call number `n`. */
  code(n: number): string;
};

/** The gas cap a node has by default. */
const DEFAULT_GAS = 50_000_000n;
const MANY_CREATIONS = assemble(`PUSH10 600160005360016000f3 PUSH1 00 MSTORE PUSH2 03e8
  JUMPDEST PUSH1 0a PUSH1 16 PUSH1 00 CREATE POP PUSH1 01 SWAP1 SUB DUP1 PUSH1 11 JUMPI STOP`);

const PROGRAMS: readonly HeavyProgram[] = [
  {
    name: "1024 frames with 1 KB each",
    gas: 10n ** 15n,
    code: () => hex("PUSH1 01 PUSH2 03e0 MSTORE PUSH0 PUSH0 PUSH0 PUSH0 PUSH0 ADDRESS GAS CALL"),
  },
  { name: "5 MB of memory", gas: DEFAULT_GAS, code: () => hex("PUSH1 01 PUSH3 4b0000 MSTORE") },
  { name: "1000 creations", gas: DEFAULT_GAS, code: () => bytesToHex(MANY_CREATIONS) },
  {
    name: "24 KB of new code",
    gas: DEFAULT_GAS,
    code: (n) => `0x63${n.toString(16).padStart(8, "0")}50${"5b".repeat(24_576 - 6)}`,
  },
  { name: "1 MB returned", gas: DEFAULT_GAS, code: () => hex("PUSH3 0ff000 PUSH0 RETURN") },
];

const node = await createNode({ settings: { "json-rpc.gas-cap": "0" } });
const atStart = await settled();
for (const program of PROGRAMS) await callOften(node, program, 0, WARM_UP_CALLS);
let before = await settled();
const warm = before;
report("start of the node, then the first calls of each", 0, atStart, warm);
for (const program of PROGRAMS) {
  const begun = performance.now();
  await callOften(node, program, WARM_UP_CALLS, CALLS);
  const ms = (performance.now() - begun) / CALLS;
  const after = await settled();
  report(program.name, ms, before, after);
  before = after;
}
report(`all ${CALLS * PROGRAMS.length} calls`, 0, warm, before);
await node.stop();

async function callOften(
  { provider }: EvmintNode,
  { gas, code }: HeavyProgram,
  first: number,
  count: number,
): Promise<void> {
  for (let n = first; n < first + count; n++) {
    const request = { to: CONTRACT, gas: `0x${gas.toString(16)}` };
    await provider.request({
      method: "eth_call",
      params: [request, "latest", { [CONTRACT]: { code: code(n) } }],
    });
  }
}

type Memory = { readonly residentMB: number; readonly heapMB: number; readonly buffersMB: number };

/** What is in use once nothing more is found to give back. */
async function settled(): Promise<Memory> {
  for (let i = 0; i < 6; i++) {
    globalThis.gc?.();
    await sleep(100);
  }
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
  return {
    residentMB: rss / MEGABYTE,
    heapMB: heapUsed / MEGABYTE,
    buffersMB: (external + arrayBuffers) / MEGABYTE,
  };
}

function report(program: string, msPerCall: number, from: Memory, to: Memory): void {
  const row = {
    program,
    "ms a call": msPerCall,
    "resident MB before": from.residentMB,
    "resident MB after": to.residentMB,
    "resident MB more": to.residentMB - from.residentMB,
    "heap MB more": to.heapMB - from.heapMB,
    "buffers MB more": to.buffersMB - from.buffersMB,
  };
  console.log(JSON.stringify(row));
}

function hex(text: string): string {
  return bytesToHex(assemble(text));
}
