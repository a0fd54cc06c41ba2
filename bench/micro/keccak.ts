/** Keccak-256 a message: ours, alone and in pairs, beside hash-wasm and noble, in turns, on the same bytes. */
import { keccak_256 } from "@noble/hashes/sha3.js";
import { createKeccak } from "hash-wasm";
import { keccak256, keccak256Message } from "../../src/base/primitives/keccak.ts";
import { createKeccakPairModule, PAIR_MESSAGES_OFFSET } from "../../src/base/primitives/keccak-pair-wasm.ts";
import { printTable, writeResult } from "../support/report.ts";

const LENGTHS = [32, 110, 532, 1024, 65_536];
const TURNS = 5;

export async function run(): Promise<void> {
  const hasher = await createKeccak(256);
  const digest = new Uint8Array(32);
  const contenders: Record<string, (data: Uint8Array) => void> = {
    ours: (data) => keccak256(data),
    "in place": (data) => keccak256Message(data.length, digest, 0),
    pair: hashInPairs(),
    "hash-wasm": (data) => hasher.init().update(data).digest("binary"),
    noble: (data) => keccak_256(data),
  };
  const rows = LENGTHS.map((length) => {
    const data = new Uint8Array(length).fill(0xab);
    const calls = Math.ceil(40_000_000 / (length + 400) / 20);
    const best = Object.fromEntries(Object.keys(contenders).map((name) => [name, Infinity]));
    for (let turn = 0; turn < TURNS; turn++) {
      for (const [name, hash] of Object.entries(contenders)) {
        best[name] = Math.min(best[name]!, nanosecondsPerCall(hash, data, calls));
      }
    }
    const ratio = (best["hash-wasm"]! / best["ours"]!).toFixed(2);
    const times: Record<string, string> = Object.fromEntries(
      Object.entries(best).map(([name, time]) => [`${name} ns`, time.toFixed(0)]),
    );
    return { bytes: String(length), ...times, "hash-wasm / ours": ratio };
  });
  printTable(rows);
  writeResult("keccak", rows);
}

/** Hashes each message together with the one before, where that was not hashed yet. */
function hashInPairs(): (data: Uint8Array) => void {
  const { bytes, hashPair } = createKeccakPairModule(4);
  const first = PAIR_MESSAGES_OFFSET + 32;
  let waiting = 0;
  return (data) => {
    const start = first + waiting * (data.length + 32);
    bytes.set(data, start);
    waiting++;
    if (waiting < 2) return;
    waiting = 0;
    const out = [first - 32, start - 32] as const;
    hashPair(first, data.length, out[0], start, data.length, out[1]);
  };
}

function nanosecondsPerCall(hash: (data: Uint8Array) => void, data: Uint8Array, calls: number): number {
  const start = process.cpuUsage();
  for (let call = 0; call < calls; call++) hash(data);
  const { user, system } = process.cpuUsage(start);
  return ((user + system) * 1000) / calls;
}
