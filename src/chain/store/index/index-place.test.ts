import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createTrie } from "../../../../test/support/chain/memory-disk.ts";
import { RandomChain } from "../../../../test/support/chain/random-chain.ts";
import { deferNothing } from "../background-work.ts";
import { openDiskBlockStore } from "../open-block-store.ts";
import { compactIndex, findIndexFault } from "./index-files.ts";

const BLOCKS = 30;

/** A data directory with a closed store, and a folder for its index that does not exist. */
type Place = { readonly directory: string; readonly folder: string };

function open(directory: string, indexFolder: string | null | undefined, reindex = false) {
  return openDiskBlockStore({
    defer: deferNothing,
    directory,
    ...(indexFolder !== undefined && { indexFolder }),
    createTrie,
    reindex,
    mergeLimits: { versionsMin: 20, nodeBytesMin: 20_000, blocksMin: 5, keysMax: 100 },
  });
}

/** Opens the store, and asserts that it is whole, and how many blocks had to be indexed. */
function assertOpens(directory: string, indexFolder: string | null | undefined, replayed = 0, reindex = false): void {
  const store = open(directory, indexFolder, reindex);
  assert.deepEqual([store.head(), store.replayedBlocks], [BLOCKS - 1, replayed]);
  assert.deepEqual(store.check().faults, []);
  store.close();
}

function makeStore(directory: string, seed: number): void {
  const chain = new RandomChain(seed);
  const store = open(directory, null);
  for (let i = 0; i < BLOCKS; i++) {
    const { record, nodes } = chain.next();
    store.append(record, nodes);
  }
  store.close();
}

async function withStore(use: (place: Place) => void | Promise<void>): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "evmint-place-"));
  try {
    const directory = join(root, "home", "data");
    makeStore(directory, 3);
    await use({ directory, folder: join(root, "disk", "index") });
  } finally {
    rmSync(root, { recursive: true });
  }
}

const isLink = (directory: string) => lstatSync(join(directory, "index")).isSymbolicLink();

describe("placeIndex", () => {
  test("moves the index to another folder and back, without indexing a block again", () =>
    withStore(({ directory, folder }) => {
      assertOpens(directory, folder);
      assert.ok(isLink(directory));
      assert.ok(statSync(join(folder, "data.mdb")).size > 10_000);
      // As commands open it that know nothing of the setting.
      assertOpens(directory, undefined);
      assert.equal(findIndexFault(directory), undefined);
      const other = `${folder}-2`;
      assertOpens(directory, other);
      assert.deepEqual(readdirSync(folder), []);
      assertOpens(directory, null);
      assert.ok(!isLink(directory));
      assert.deepEqual(readdirSync(other), []);
      assert.deepEqual(
        readdirSync(directory).filter((name) => name.startsWith("index.moving")),
        [],
      );
    }));

  test("leaves other files of the folder alone, also when the index is made anew", () =>
    withStore(({ directory, folder }) => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "notes"), "");
      assertOpens(directory, folder);
      assertOpens(directory, folder, BLOCKS, true);
      assert.ok(isLink(directory));
      assertOpens(directory, null);
      assert.deepEqual(readdirSync(folder), ["notes"]);
    }));

  test("compactIndex copies the index on the disk where it is", () =>
    withStore(async ({ directory, folder }) => {
      assertOpens(directory, folder);
      const { bytesAfter } = (await compactIndex(directory))!;
      assert.equal(statSync(join(folder, "data.mdb")).size, bytesAfter);
      assert.ok(isLink(directory));
      assert.ok(!readdirSync(folder).includes("compacting"));
      assertOpens(directory, folder);
    }));

  test("makes no index while the disk with the index is missing", () =>
    withStore(({ directory, folder }) => {
      assertOpens(directory, folder);
      renameSync(folder, `${folder}-unmounted`);
      assert.throws(() => open(directory, folder), { code: "STORE_INDEX_FOLDER" });
      // Where it is mounted, without it.
      mkdirSync(folder);
      assert.throws(() => open(directory, folder), { code: "STORE_INDEX_FOLDER" });
      assert.deepEqual(readdirSync(folder), []);
      rmSync(folder, { recursive: true });
      renameSync(`${folder}-unmounted`, folder);
      assertOpens(directory, folder);
    }));

  test("rejects a data directory that was set aside with a link to the index of the one in its place", () =>
    withStore(({ directory, folder }) => {
      assertOpens(directory, folder);
      const aside = join(directory, "..", "aside");
      renameSync(directory, aside);
      makeStore(directory, 4);
      assertOpens(directory, folder);
      // A command would rebuild the index of a running node.
      assert.throws(() => open(aside, undefined), { code: "STORE_INDEX_FOLDER" });
      assertOpens(directory, folder);
      rmSync(join(aside, "index"));
      assertOpens(aside, undefined, BLOCKS);
    }));

  test("rejects a folder with the index of another data directory, and one with an unknown index", () =>
    withStore(({ directory, folder }) => {
      assertOpens(directory, folder);
      const other = join(directory, "..", "other");
      makeStore(other, 4);
      assert.throws(() => open(other, folder), { code: "STORE_INDEX_FOLDER" });
      assertOpens(other, null);
      assertOpens(directory, folder);
      const unknown = `${folder}-unknown`;
      mkdirSync(unknown);
      writeFileSync(join(unknown, "data.mdb"), "");
      assert.throws(() => open(other, unknown), { code: "STORE_INDEX_FOLDER" });
    }));

  test("indexes all blocks again where the folder has a file of another chain", () =>
    withStore(({ directory, folder }) => {
      assertOpens(directory, folder);
      const other = join(directory, "..", "other");
      makeStore(other, 4);
      copyFileSync(join(other, "index", "data.mdb"), join(folder, "data.mdb"));
      assertOpens(directory, folder, BLOCKS);
    }));

  test("continues after a death between two steps", () =>
    withStore(({ directory, folder }) => {
      const place = join(directory, "index");
      assertOpens(directory, folder);
      // The old folder is gone, and the link is missing.
      rmSync(place);
      assertOpens(directory, folder);
      // A copy that is not whole.
      writeFileSync(join(folder, "data.mdb.moving"), "half");
      assertOpens(directory, null);
      // The link is gone, and the copy has no name yet.
      renameSync(place, `${place}.moving`);
      assertOpens(directory, null);
      assert.ok(!existsSync(`${place}.moving`));
    }));
});
