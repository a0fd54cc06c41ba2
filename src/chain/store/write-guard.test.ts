import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { RandomChain } from "../../../test/support/chain/random-chain.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { createMemoryLogDirectory } from "../../store/storage/log/memory-log-directory.ts";
import { createMemoryKv } from "../../store/storage/memory-kv.ts";
import { META } from "../../store/storage/schema.ts";
import { DiskFullError } from "../store-errors.ts";
import { deferNothing } from "./background-work.ts";
import { metaKey } from "./index/block-rows.ts";
import { MERGE_LIMITS } from "./index/index-merge.ts";
import { openLogBlockStore } from "./log-block-store.ts";
import { createFreeSpaceReader } from "./write-guard.ts";

test("createFreeSpaceReader asks the system once in 50 ms", () => {
  const directory = mkdtempSync(join(tmpdir(), "evmint-free-space-"));
  let time = 1_000;
  const freeBytes = createFreeSpaceReader([directory], () => time);
  const first = freeBytes();
  assert.ok(first > 0);
  // Asking again would throw.
  rmSync(directory, { recursive: true });
  time += 49;
  assert.equal(freeBytes(), first);
  time += 1;
  assert.throws(freeBytes, { code: "ENOENT" });
});

/** Opens a store of twenty blocks that no merge has written again, on a disk with `freeBytes`. */
function reopened(freeBytes: number, interruptedAfter = 0) {
  const files = { log: createMemoryLogDirectory(), index: createMemoryKv(), createTrie: createStateTrie };
  const waiting = { ...MERGE_LIMITS, keysMax: 2 };
  // It is not closed: its process was killed.
  const killed = openLogBlockStore({ ...files, mergeLimits: waiting, defer() {} });
  const chain = new RandomChain(3);
  for (let i = 0; i < 20; i++) {
    const { record, nodes } = chain.next();
    killed.append(record, nodes);
  }
  for (let i = 0; i < interruptedAfter; i++) killed.mergeSome();
  const options = { mergeLimits: { ...waiting, blocksMin: 2 }, freeBytes: () => freeBytes };
  const head = openLogBlockStore({ defer: deferNothing, ...files, ...options }).head();
  return { head, hasMerged: files.index.get(metaKey(META.checkpoint)) !== undefined };
}

test("a store that is opened on a full disk merges nothing", () => {
  const [full, other] = [reopened(0), reopened(Number.POSITIVE_INFINITY)];
  assert.deepEqual(full, { head: 19, hasMerged: false });
  assert.deepEqual(other, { head: 19, hasMerged: true });
});

test("one whose merge was interrupted is not opened on a full disk", () => {
  assert.throws(() => reopened(0, 3), DiskFullError);
  assert.ok(reopened(Number.POSITIVE_INFINITY, 3).hasMerged);
});
