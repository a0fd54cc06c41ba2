import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { deferNothing } from "../../src/chain/store/background-work.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { ArchiveModel } from "../support/chain/archive-model.ts";
import { writeOldHome } from "../support/chain/old-home.ts";
import { testProgram } from "../support/test-program.ts";

const VICTIM = testProgram(new URL("migration-victim.ts", import.meta.url));
const BLOCKS = 40;
/** Where each start of one home is killed; the start after them is not. */
const DEATHS: readonly (readonly [point: string, hits: number])[] = [
  ["migrate:record", 1],
  ["migrate:record", BLOCKS],
  ["migrate:record", BLOCKS / 2],
  ["migrate:written", 1],
  ["migrate:index", 1],
  ["replace:backup", 1],
  ["migrate:end", 1],
];

const filesOf = (folder: string) =>
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "base64")]);

test("an old home whose migration is killed again and again migrates, and is equal to a naive archive", () => {
  const directory = mkdtempSync(join(tmpdir(), "evmint-migration-"));
  try {
    const blocks = writeOldHome(directory, BLOCKS);
    const oldLog = filesOf(join(directory, "log"));
    for (const [point, hits] of DEATHS) {
      const args = [...VICTIM.execArgv, VICTIM.file, directory, point, String(hits)];
      const { signal, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
      // Once the log is replaced there is nothing left to migrate.
      const isReplaced = existsSync(join(directory, "log.v1.backup"));
      assert.ok(signal === "SIGKILL" || (isReplaced && stderr === ""), `${point}: ${stderr}`);
    }
    const store = openDiskBlockStore({ defer: deferNothing, directory, createTrie: createStateTrie });
    const model = new ArchiveModel();
    for (const block of blocks) model.add(block);
    model.assertEqual(store);
    store.close();
    assert.deepEqual(filesOf(join(directory, "log.v1.backup")), oldLog);
    assert.ok(!existsSync(join(directory, "log.new")));
  } finally {
    rmSync(directory, { recursive: true });
  }
});
