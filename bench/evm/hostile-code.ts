/** What others wait for an answer while contracts made to cost the compiler much are called all the time. */
import { setTimeout } from "node:timers/promises";
import { HOT_GAS_PER_BYTE } from "../../src/node/adapters/compiled/hot-tier.ts";
import { bytesToHex } from "../../src/primitives/hex.ts";
import { call, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";
import { assemble } from "./programs.ts";

const CALLERS = 4;
const SECONDS = 10;
const PAUSE_MS = 10;
const CODE_BYTES = 24_576;
const CONTRACT = `0x${"cc".repeat(20)}`;

/** Contracts that are called in turn, and how often: the first call makes each hot, the second asks for its module. */
const DISTINCT = 10_000;
const DISTINCT_TURNS = 2;
/** Gas of a call besides what makes the code hot: the intrinsic gas, and some. */
const SPARE_GAS = 100_000;

/** Codes by what they aim at; `n` makes each another one. They run until their gas ends, so that they become hot at once. */
const CODES: Readonly<Record<string, (n: number) => Uint8Array>> = {
  "idle beside": () => Uint8Array.of(0),
  "largest contract of arithmetic": (n) => filled(n, "DUP1 DUP1 MUL ADD"),
  "largest contract of paths": (n) => filled(n, "JUMPDEST DUP1 ISZERO PUSH2 0006 JUMPI"),
  "a destination at every byte": (n) => filled(n, "JUMPDEST"),
  "computed jumps to every byte": (n) =>
    withLoop(n, "GAS PUSH2 0fff AND PUSH2 0020 ADD JUMP", "JUMPDEST"),
  // A destination that is computed has no path, so the interpreter goes on.
  "a change of tier at every turn": (n) =>
    withLoop(n, "PUSH1 07 PUSH1 08 ADD JUMP JUMPDEST JUMPDEST PUSH1 06 JUMP", "fe"),
};

export async function run(): Promise<void> {
  const rows = [];
  for (const [name, codeOf] of Object.entries(CODES)) {
    let end: number | undefined;
    const tenOfEach = (caller: number, n: number) => {
      end ??= performance.now() + SECONDS * 1000;
      if (performance.now() >= end) return undefined;
      return codeOf(caller * 1_000_000 + Math.floor(n / 10));
    };
    rows.push(await measure(name, tenOfEach));
  }
  const inTurn = (caller: number, n: number) => {
    const index = n * CALLERS + caller;
    return index < DISTINCT * DISTINCT_TURNS ? shortLoop(index % DISTINCT) : undefined;
  };
  const hotGas = HOT_GAS_PER_BYTE * shortLoop(0).length + SPARE_GAS;
  rows.push(await measure("10,000 contracts in turn", inTurn, hotGas));
  printTable(rows);
  writeResult("evm-hostile-code", rows);
}

/** @param codeOf the code of call `n` of a caller, until it has none */
async function measure(
  name: string,
  codeOf: (caller: number, n: number) => Uint8Array | undefined,
  gas?: number,
) {
  const node = await startEvmint({ extraArguments: ["--evm.compile", "auto"] });
  try {
    await call(node.port, "eth_blockNumber", []);
    let calls = 0;
    const attack = async (caller: number): Promise<void> => {
      for (let n = 0; ; n++) {
        const bytes = codeOf(caller, n);
        if (bytes === undefined) return;
        const request = { to: CONTRACT, ...(gas && { gas: `0x${gas.toString(16)}` }) };
        const overrides = { [CONTRACT]: { code: bytesToHex(bytes) } };
        await call(node.port, "eth_call", [request, "latest", overrides])
          // Most of them end by a halt.
          .catch(() => undefined);
        calls++;
      }
    };
    let isOver = false;
    const attacks = Promise.all(
      Array.from({ length: CALLERS }, (_, caller) => attack(caller)),
    ).finally(() => {
      isOver = true;
    });
    const times: number[] = [];
    while (!isOver) {
      const begun = performance.now();
      await call(node.port, "eth_blockNumber", []);
      times.push(performance.now() - begun);
      await setTimeout(PAUSE_MS);
    }
    await attacks;
    times.sort((a, b) => a - b);
    return {
      code: name,
      "hostile calls": calls,
      "eth_blockNumber p50 ms": times[times.length >> 1]!,
      "p99 ms": times[Math.floor(times.length * 0.99)]!,
      "longest ms": times.at(-1)!,
      "resident MB": node.residentBytes() / 2 ** 20,
    };
  } finally {
    await node.stop();
  }
}

/** A short loop. */
function shortLoop(n: number): Uint8Array {
  return assemble(
    `PUSH4 ${n.toString(16).padStart(8, "0")} POP JUMPDEST ADDRESS POP PUSH1 06 JUMP`,
  );
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
