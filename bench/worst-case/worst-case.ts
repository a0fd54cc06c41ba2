import { setMaxListeners } from "node:events";
import { request } from "node:http";
import { METHODS } from "../../src/rpc/methods.ts";
import { type Peer, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";
import { opcodeRows } from "./opcodes.ts";
import { type Attack, makeTarget, methodAttack, TRANSPORT_ATTACKS } from "./transport-attacks.ts";

const CONNECTIONS = 40;
const BLOCK_SECONDS = 1;
const HONEST_INTERVAL_MS = 10;

/**
 * What 40 hostile connections do to an honest client of the same node, attack by attack: latency of its `eth_blockNumber`,
 * lateness of blocks, resident memory.
 *
 *     npm run bench -- worst-case [--seconds N] [part of an attack's name … | opcodes]
 *
 * Before them, and alone for `opcodes`: the CPU time for the gas of every opcode.
 */
export async function run(args: readonly string[]): Promise<void> {
  const at = args.indexOf("--seconds");
  const seconds = at === -1 ? 10 : Number(args[at + 1]);
  const parts = args.filter((_, i) => at === -1 || (i !== at && i !== at + 1));
  if (parts.length === 0 || parts.includes("opcodes")) {
    const rows = opcodeRows("osaka");
    printTable(rows);
    writeResult("worst-case-opcodes", rows);
    if (parts.length === 1) return;
  }
  const attacks: [string, Attack][] = [
    ...Object.entries(TRANSPORT_ATTACKS),
    ...METHODS.filter(({ isPrivate, needsConnection }) => !isPrivate && !needsConnection).map(
      ({ name }): [string, Attack] => [name, methodAttack(name)],
    ),
  ];
  const chosen = attacks.filter(
    ([name]) => parts.length === 0 || parts.some((part) => name.includes(part)),
  );
  const rows = [];
  for (const [name, attack] of chosen) {
    const row = await measure(name, attack, seconds);
    printTable([row]);
    rows.push(row);
  }
  printTable(rows);
  writeResult("worst-case", rows, { connections: CONNECTIONS, seconds });
}

/** A fresh node for each attack, so that none inherits the memory of another. */
async function measure(name: string, attack: Attack, seconds: number) {
  const node = await startEvmint({
    blockTimeSeconds: BLOCK_SECONDS,
    extraArguments: ["--log.level", "silent"],
  });
  try {
    const target = await makeTarget(node);
    const abort = new AbortController();
    setMaxListeners(0, abort.signal);
    const honest = watch(node, abort.signal);
    const hostile = Array.from({ length: CONNECTIONS }, () => attack(node, abort.signal, target));
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    abort.abort();
    await Promise.allSettled(hostile);
    const { latencies, blockGaps, residentBytes, failures } = await honest;
    latencies.sort((a, b) => a - b);
    const quantile = (share: number) =>
      latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
    return {
      attack: name,
      "p50 ms": quantile(0.5),
      "p99 ms": quantile(0.99),
      "longest stall ms": latencies.at(-1) ?? Number.NaN,
      "block late ms": Math.max(0, ...blockGaps) - BLOCK_SECONDS * 1000,
      "memory MB": residentBytes / 2 ** 20,
      failures: String(failures),
    };
  } finally {
    await node.stop();
  }
}

/** The honest client: one connection of its own, a call every few milliseconds. */
async function watch(peer: Peer, signal: AbortSignal) {
  const latencies: number[] = [];
  const blockGaps: number[] = [];
  let residentBytes = 0;
  let failures = 0;
  let head = "";
  let headAt: number | undefined;
  while (!signal.aborted) {
    const begin = performance.now();
    try {
      const answer = await blockNumber(peer.port);
      const now = performance.now();
      latencies.push(now - begin);
      if (answer !== head) {
        if (headAt !== undefined) blockGaps.push(now - headAt);
        headAt = head === "" ? undefined : now;
        head = answer;
      }
    } catch {
      failures++;
      latencies.push(performance.now() - begin);
    }
    residentBytes = Math.max(residentBytes, peer.residentBytes());
    await new Promise((resolve) => setTimeout(resolve, HONEST_INTERVAL_MS));
  }
  if (headAt !== undefined) blockGaps.push(performance.now() - headAt);
  return { latencies, blockGaps, residentBytes, failures };
}

function blockNumber(port: number): Promise<string> {
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}';
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": body.length };
    const sent = request({ port, host: "127.0.0.1", method: "POST", headers }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => {
        const { result } = JSON.parse(text || "{}") as { result?: string };
        if (result === undefined) reject(new Error(text));
        else resolve(result);
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
