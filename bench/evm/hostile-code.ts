/**
 * What an honest client waits for an answer while contracts made to cost the compiler much are called all the time; in two rows nothing is called, or a
 * contract that does nothing: what the machine and the load generator add.
 */
import { setTimeout } from "node:timers/promises";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { HOT_GAS_PER_BYTE } from "../../src/node/compiled-contracts/compiled-modules.ts";
import { freePort } from "../../test/support/free-port.ts";
import { startHonestClient } from "../support/honest-client.ts";
import { call, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";
import { assemble } from "./programs.ts";

const CALLERS = 4;
const SECONDS = 10;
const CODE_BYTES = 24_576;
const CONTRACT = `0x${"cc".repeat(20)}`;

/** Gas of a call where it names none: `json-rpc.gas-cap`. */
const CALL_GAS = 50_000_000;
/** Calls of one contract: until it is hot, and then some on its module. */
const CALLS_OF_ONE = Math.ceil((HOT_GAS_PER_BYTE * CODE_BYTES) / CALL_GAS) + 20;

/** Contracts that are called in turn, and how often: the first call makes each hot, the second asks for its module. */
const DISTINCT = 10_000;
const DISTINCT_TURNS = 2;
/** Gas of a call besides what makes the code hot: the intrinsic gas, and some. */
const SPARE_GAS = 100_000;

const STOP = () => Uint8Array.of(0);

/** Codes by what they aim at; `n` makes each another one. They run until their gas ends. */
const CODES: Readonly<Record<string, (n: number) => Uint8Array>> = {
  "STOP alone": STOP,
  "largest contract of arithmetic": (n) => filled(n, "DUP1 DUP1 MUL ADD"),
  "largest contract of paths": (n) => filled(n, "JUMPDEST DUP1 ISZERO PUSH2 0006 JUMPI"),
  "a destination at every byte": (n) => filled(n, "JUMPDEST"),
  "computed jumps to every byte": (n) => withLoop(n, "GAS PUSH2 0fff AND PUSH2 0020 ADD JUMP", "JUMPDEST"),
  // A destination that is computed has no path, so the interpreter goes on.
  "a change of tier": (n) => withLoop(n, "PUSH1 06 PUSH1 08 ADD JUMP JUMPDEST JUMPDEST PUSH1 06 JUMP", "fe"),
};

export async function run(): Promise<void> {
  const rows = [await measure("none is called", idle)];
  for (const [name, codeOf] of Object.entries(CODES)) {
    rows.push(await measure(name, (port) => callUntilOver(port, codeOf)));
  }
  rows.push(await measure("10,000 contracts in turn", callInTurn));
  printTable(rows);
  writeResult("evm-hostile-code", rows);
}

/** @param attack answers how many calls it made */
async function measure(name: string, attack: (port: number) => Promise<number>) {
  const metrics = `127.0.0.1:${await freePort()}`;
  const node = await startEvmint({
    extraArguments: ["--evm.compile", "auto", "--metrics.enable", "true", "--metrics.address", metrics],
  });
  try {
    // The first call of a process makes its EVM; `npm run bench -- evm first-call` measures that.
    await callCode(node.port, STOP());
    const client = await startHonestClient(node);
    const calls = await attack(node.port);
    const { p50Ms, p99Ms, longestMs } = await client.stop();
    return {
      code: name,
      "hostile calls": calls,
      compilations: compilationsIn(await (await fetch(`http://${metrics}/metrics`)).text()),
      "eth_blockNumber p50 ms": p50Ms,
      "p99 ms": p99Ms,
      "longest ms": longestMs,
      "resident MB": node.residentBytes() / 2 ** 20,
    };
  } finally {
    await node.stop();
  }
}

/** Contracts that were handed to the compiler and came back. */
function compilationsIn(exposition: string): number {
  const outcomes = exposition.matchAll(/^evmint_contract_compilations_total\{.*\} (\d+)$/gm);
  return Array.from(outcomes, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
}

async function idle(): Promise<number> {
  await setTimeout(SECONDS * 1000);
  return 0;
}

/** All callers call one contract after the other, each until it was compiled. */
async function callUntilOver(port: number, codeOf: (n: number) => Uint8Array): Promise<number> {
  const end = performance.now() + SECONDS * 1000;
  let calls = 0;
  return fromAllCallers(async () => {
    if (performance.now() >= end) return false;
    await callCode(port, codeOf(Math.floor(calls++ / CALLS_OF_ONE)));
    return true;
  });
}

async function callInTurn(port: number): Promise<number> {
  const gas = HOT_GAS_PER_BYTE * shortLoop(0).length + SPARE_GAS;
  return fromAllCallers(async (caller, n) => {
    const index = n * CALLERS + caller;
    if (index >= DISTINCT * DISTINCT_TURNS) return false;
    await callCode(port, shortLoop(index % DISTINCT), gas);
    return true;
  });
}

/** Calls of all callers, each until `callOnce` answers false. */
async function fromAllCallers(callOnce: (caller: number, n: number) => Promise<boolean>): Promise<number> {
  const counts = Array.from({ length: CALLERS }, async (_, caller) => {
    let n = 0;
    while (await callOnce(caller, n)) n++;
    return n;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

async function callCode(port: number, code: Uint8Array, gas?: number): Promise<void> {
  const request = { to: CONTRACT, ...(gas && { gas: `0x${gas.toString(16)}` }) };
  const overrides = { [CONTRACT]: { code: bytesToHex(code) } };
  // Most of them end by a halt.
  await call(port, "eth_call", [request, "latest", overrides]).catch(() => undefined);
}

/** A short loop. */
function shortLoop(n: number): Uint8Array {
  return assemble(`PUSH4 ${n.toString(16).padStart(8, "0")} POP JUMPDEST ADDRESS POP PUSH1 06 JUMP`);
}

/** A loop over all of the code. */
function filled(n: number, body: string): Uint8Array {
  return withLoop(n, "PUSH1 01", body, "POP PUSH1 06 JUMP");
}

/** A number that is not used, a JUMPDEST at byte 6, `head`, as many of `body` as fit, and `tail`. */
function withLoop(n: number, head: string, body: string, tail = "PUSH1 06 JUMP"): Uint8Array {
  const begin = assemble(`PUSH4 ${n.toString(16).padStart(8, "0")} POP JUMPDEST ${head}`);
  const [repeated, end] = [assemble(body), assemble(tail)];
  const code = new Uint8Array(CODE_BYTES);
  code.set(begin);
  let at = begin.length;
  for (; at + repeated.length + end.length <= CODE_BYTES; at += repeated.length) {
    code.set(repeated, at);
  }
  code.set(end, at);
  return code;
}
