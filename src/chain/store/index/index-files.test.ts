import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ArchiveModel } from "../../../../test/support/chain/archive-model.ts";
import { createTrie } from "../../../../test/support/chain/memory-disk.ts";
import { RandomChain } from "../../../../test/support/chain/random-chain.ts";
import { deferNothing } from "../background-work.ts";
import { openDiskBlockStore } from "../open-block-store.ts";
import { compactIndex } from "./index-files.ts";

const RETENTION = { blocks: 30, states: 20, proofs: 10, blocksMin: 1 };

function open(directory: string) {
  return openDiskBlockStore({
    defer: deferNothing,
    directory,
    createTrie,
    retention: RETENTION,
    segmentBytesMax: 10_000,
    mergeLimits: { versionsMin: 20, nodeBytesMin: 20_000, blocksMin: 5, keysMax: 100 },
  });
}

/** A directory with a closed store in which most of the index is free pages. */
async function withPrunedStore(use: (directory: string, model: ArchiveModel) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "evmint-compact-"));
  try {
    const chain = new RandomChain(17, { accounts: 200, transactionsMax: 20 });
    const model = new ArchiveModel();
    const store = open(directory);
    for (let i = 0; i < 150; i++) {
      const block = chain.next();
      store.append(block.record, block.nodes);
      model.add(block);
    }
    while (store.mergeSome());
    while (store.pruneSome());
    store.close();
    await use(directory, model);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const indexBytes = (directory: string) => statSync(join(directory, "index/data.mdb")).size;

function assertWhole(directory: string, model: ArchiveModel): void {
  const store = open(directory);
  assert.equal(store.replayedBlocks, 0);
  model.assertEqual(store);
  store.close();
}

describe("compactIndex", () => {
  test("makes the file smaller, and the store is the same", () =>
    withPrunedStore(async (directory, model) => {
      const before = indexBytes(directory);
      const progress: number[] = [];
      const result = await compactIndex(directory, {
        onProgress: ({ done }) => void progress.push(done),
      });
      assert.deepEqual(result, { bytesBefore: before, bytesAfter: indexBytes(directory) });
      assert.ok(result.bytesAfter < 0.95 * before, `${result.bytesAfter} of ${before} bytes`);
      assert.ok(progress.length > 0);
      assertWhole(directory, model);
    }));

  for (const point of ["compact:copied", "compact:renamed"]) {
    test(`that dies at ${point} leaves a whole index`, () =>
      withPrunedStore(async (directory, model) => {
        const failPoint = (name: string) => {
          if (name === point) throw new Error("dead");
        };
        await assert.rejects(compactIndex(directory, { failPoint }), { message: "dead" });
        assertWhole(directory, model);
      }));
  }

  test("that is stopped changes nothing", () =>
    withPrunedStore(async (directory, model) => {
      const before = indexBytes(directory);
      assert.equal(await compactIndex(directory, { mayContinue: () => false }), undefined);
      // LMDB may add a page when it opens the file; a copy has fewer.
      assert.ok(indexBytes(directory) >= before);
      assert.ok(!readdirSync(directory).includes("index.new"));
      assertWhole(directory, model);
    }));

  test("is an error while the store is open, and where the index is missing", () =>
    withPrunedStore(async (directory) => {
      const store = open(directory);
      await assert.rejects(compactIndex(directory), { code: "STORE_LOCKED" });
      store.close();
      rmSync(join(directory, "index"), { recursive: true });
      await assert.rejects(compactIndex(directory), { code: "STORE_INDEX_UNUSABLE" });
    }));
});
