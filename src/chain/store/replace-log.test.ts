import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { writeOldHome } from "../../../test/support/chain/old-home.ts";
import { plain } from "../../../test/support/chain/plain.ts";
import type { RandomBlock } from "../../../test/support/chain/random-chain.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { deferNothing } from "./background-work.ts";
import { openDiskBlockStore } from "./open-block-store.ts";

const BLOCKS = 30;
const STEPS = ["migrate:record", "migrate:written", "migrate:index", "replace:backup", "migrate:end"];

/** A directory as the program of log format 1 left it. */
function withOldHome(use: (directory: string, blocks: readonly RandomBlock[]) => void, blockCount = BLOCKS): void {
  const directory = mkdtempSync(join(tmpdir(), "evmint-migrate-"));
  try {
    const blocks = writeOldHome(directory, blockCount);
    use(directory, blocks);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const contents = (folder: string) =>
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "base64")]);

function assertMigrated(directory: string, blocks: readonly RandomBlock[], oldLog: unknown): void {
  const store = openDiskBlockStore({ defer: deferNothing, directory, createTrie: createStateTrie });
  assert.equal(store.head(), blocks.length - 1);
  for (const [number, { record }] of blocks.entries()) {
    assert.deepEqual(plain(store.header(number)), plain(record.block.header));
    const consensusData = store.consensusDataOf(number);
    const stored = { ...store.block(number), changes: store.changes(number), consensusData };
    assert.deepEqual(plain(stored), plain(record));
  }
  assert.deepEqual(store.check().faults, []);
  store.close();
  assert.deepEqual(contents(join(directory, "log.v1.backup")), oldLog);
  assert.ok(!existsSync(join(directory, "log.new")));
}

describe("migrateLog", () => {
  test("rewrites a log of format 1 and keeps the old one as a backup", () =>
    withOldHome((directory, blocks) => {
      const oldLog = contents(join(directory, "log"));
      assertMigrated(directory, blocks, oldLog);
      // A second start has nothing to do.
      assertMigrated(directory, blocks, oldLog);
    }));

  test("is finished by the next start when the process dies at any step", () => {
    for (const step of STEPS) {
      withOldHome((directory, blocks) => {
        const oldLog = contents(join(directory, "log"));
        let left = step === "migrate:record" ? BLOCKS / 2 : 1;
        const failPoint = (name: string) => {
          if (name === step && --left === 0) throw new Error("dead");
        };
        const options = { directory, createTrie: createStateTrie, defer: deferNothing, failPoint };
        assert.throws(() => openDiskBlockStore(options), { message: "dead" });
        assertMigrated(directory, blocks, oldLog);
      });
    }
  });
});
