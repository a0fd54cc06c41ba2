import { setMaxListeners } from "node:events";
import { setTimeout } from "node:timers/promises";
import { METHODS } from "../../src/rpc/methods/methods.ts";
import { startHonestClient } from "../support/honest-client.ts";
import { call, type Peer, startEvmint } from "../support/peers.ts";
import { printTable, updateResult, writeResult } from "../support/report.ts";
import { opcodeRows } from "./opcodes.ts";
import { type Attack, makeTarget, methodAttack, TRANSPORT_ATTACKS } from "./transport-attacks.ts";

const CONNECTIONS = 40;
const BLOCK_SECONDS = 1;
const WATCH_INTERVAL_MS = 20;

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
  const chosen = attacks.filter(([name]) => parts.length === 0 || parts.some((part) => name.includes(part)));
  const rows = [];
  for (const [name, attack] of chosen) {
    const row = await measure(name, attack, seconds);
    printTable([row]);
    rows.push(row);
  }
  printTable(rows);
  updateResult("worst-case", rows, ({ attack }) => attack);
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
    const honest = await startHonestClient(node);
    const watched = watch(node, abort.signal);
    const hostile = Array.from({ length: CONNECTIONS }, () => attack(node, abort.signal, target));
    await setTimeout(seconds * 1000);
    const { p50Ms, p99Ms, longestMs, failures } = await honest.stop();
    abort.abort();
    await Promise.allSettled(hostile);
    const { blockGaps, residentBytes } = await watched;
    return {
      attack: name,
      seconds,
      "p50 ms": p50Ms,
      "p99 ms": p99Ms,
      "longest stall ms": longestMs,
      "block late ms": Math.max(0, ...blockGaps) - BLOCK_SECONDS * 1000,
      "memory MB": residentBytes / 2 ** 20,
      failures: String(failures),
    };
  } finally {
    await node.stop();
  }
}

/** Time between blocks in ms, and the largest resident memory. */
async function watch(peer: Peer, signal: AbortSignal) {
  const blockGaps: number[] = [];
  let residentBytes = 0;
  let head = "";
  let headAt: number | undefined;
  while (!signal.aborted) {
    const answer = await call<string>(peer.port, "eth_blockNumber", []).catch(() => head);
    const now = performance.now();
    if (answer !== head) {
      if (headAt !== undefined) blockGaps.push(now - headAt);
      headAt = head === "" ? undefined : now;
      head = answer;
    }
    residentBytes = Math.max(residentBytes, peer.residentBytes());
    await setTimeout(WATCH_INTERVAL_MS);
  }
  if (headAt !== undefined) blockGaps.push(performance.now() - headAt);
  return { blockGaps, residentBytes };
}
