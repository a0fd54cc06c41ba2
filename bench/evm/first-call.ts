/** The first eth_call of a fresh process: our node and anvil over HTTP, and our engine alone. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median } from "../support/load.ts";
import { type Peer, startAnvil, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";
import { GAS, timeOnPeer } from "./engines.ts";
import { RAY_TRACER, STOP } from "./programs.ts";

const PROCESSES = 5;
const ALONE = fileURLToPath(new URL("./first-call-alone.ts", import.meta.url));
const UNLIMITED = ["--json-rpc.gas-cap", "0", "--json-rpc.evm-timeout", "0s"];

export async function run(): Promise<void> {
  const rows = [];
  for (const program of [STOP, RAY_TRACER]) {
    const ours: Calls[] = [];
    const anvil: Calls[] = [];
    const alone: number[] = [];
    for (let process_ = 0; process_ < PROCESSES; process_++) {
      ours.push(await firstCalls(await startEvmint({ extraArguments: UNLIMITED })));
      const peer = await startAnvil({
        extraArguments: ["--gas-limit", GAS.toString(), "--hardfork", "prague"],
      });
      if (peer) anvil.push(await firstCalls(peer));
      alone.push(firstExecution(program.name));
    }
    const [mine, theirs] = [medianOf(ours), medianOf(anvil)];
    rows.push({
      program: program.name,
      "ours first ms": mine.first,
      "ours second ms": mine.second,
      "anvil first ms": theirs.first,
      "anvil second ms": theirs.second,
      "ours / anvil, first": mine.first / theirs.first,
      "our engine alone, first ms": median(alone),
    });

    async function firstCalls(peer: Peer): Promise<Calls> {
      try {
        return { first: await timeOnPeer(peer, program), second: await timeOnPeer(peer, program) };
      } finally {
        await peer.stop();
      }
    }
  }
  printTable(rows);
  writeResult("evm-first-call", rows);
}

type Calls = { readonly first: number; readonly second: number };

function medianOf(calls: readonly Calls[]): Calls {
  if (calls.length === 0) return { first: Number.NaN, second: Number.NaN };
  return {
    first: median(calls.map(({ first }) => first)),
    second: median(calls.map(({ second }) => second)),
  };
}

/** Milliseconds that making an engine and its first execution take in a new process. */
function firstExecution(program: string): number {
  const output = execFileSync(process.execPath, ["--import", "tsx", ALONE, program], {
    encoding: "utf8",
  });
  return Number(output);
}
