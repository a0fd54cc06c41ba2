import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keccak256, keccak256Hash } from "../../src/base/primitives/keccak.ts";
import { addToBloom } from "../../src/base/types/bloom.ts";
import { uint64Bytes } from "../../src/heritage/les/checkpoints/checkpoint.ts";
import { CheckpointIndexer } from "../../src/heritage/les/checkpoints/checkpoint-indexer.ts";
import { openLmdbKv } from "../../src/store/storage/lmdb/lmdb-kv.ts";
import { printTable, writeResult } from "../support/report.ts";

/** Addresses and topics in the bloom of a block: 40 transfers of tokens. */
const BLOOM_ITEMS = 120;

/**
 * `npm run bench -- checkpoints [BLOCKS] [SECTION]`: blocks that the indexer of checkpoints takes in a second of processor time, and its
 * longest step, during which nothing else runs.
 */
export async function run([blocksText = "40000", sectionText = "32768"]: readonly string[]): Promise<void> {
  const [blocks, sectionSize] = [Number(blocksText), Number(sectionText)];
  const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const hashes = Array.from({ length: blocks }, (_, number) => keccak256Hash(uint64Bytes(number)));
  const blooms = Array.from({ length: 64 }, (_, seed) => {
    const bloom = new Uint8Array(256);
    for (let i = 0; i < BLOOM_ITEMS; i++) addToBloom(bloom, keccak256(Uint8Array.of(seed, i)));
    return bloom;
  });
  const kv = openLmdbKv(directory);
  try {
    const indexer = new CheckpointIndexer(
      { sectionSize, confirmations: 1 },
      {
        kv,
        source: {
          head: () => blocks - 1,
          headerAt: (number) => ({ difficulty: 0n, logsBloom: blooms[number % blooms.length]! }),
          hashAt: (number) => hashes[number],
        },
      },
    );
    const cpuBefore = process.cpuUsage();
    const steps: number[] = [];
    for (let isMore = true; isMore; ) {
      const begin = process.cpuUsage();
      isMore = indexer.step();
      const { user, system } = process.cpuUsage(begin);
      steps.push((user + system) / 1000);
    }
    const { user, system } = process.cpuUsage(cpuBefore);
    const indexed = indexer.sections * sectionSize;
    steps.sort((a, b) => a - b);
    const at = (part: number) => Number(steps[Math.floor((steps.length - 1) * part)]!.toFixed(1));
    const rows = [
      {
        what: "blocks a second of processor time",
        value: Math.round(indexed / ((user + system) / 1e6)),
      },
      { what: "99th percentile of a step, ms of processor time", value: at(0.99) },
      { what: "longest step, ms of processor time", value: at(1) },
    ];
    printTable(rows);
    writeResult("checkpoints", rows, { blocks, sectionSize });
  } finally {
    kv.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
