import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { mulberry32, RandomChain } from "../../../test/support/chain/random-chain.ts";
import { IS_NIGHTLY } from "../../../test/support/nightly.ts";
import { createLossyKv } from "../../../test/support/store/storage/lossy-kv.ts";
import type { Address } from "../../base/primitives/address.ts";
import { hashToBytes } from "../../base/primitives/hash.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { NativeStoreMissingError, openLmdbKv } from "../../store/storage/lmdb/lmdb-kv.ts";
import { bootId } from "../../store/storage/lock.ts";
import { INDEX_FORMAT, INDEX_FORMAT_MIN, META, TABLE, tableKey } from "../../store/storage/schema.ts";
import { deferNothing } from "./background-work.ts";
import { openDiskBlockStore } from "./open-block-store.ts";

const BLOCKS = 40;

/** A directory with a closed store of a random chain in it. */
function withStore(use: (directory: string, chain: RandomChain) => void): void {
  const directory = mkdtempSync(join(tmpdir(), "evmint-store-"));
  try {
    const chain = new RandomChain(11);
    const store = open(directory);
    for (let i = 0; i < BLOCKS; i++) {
      const { record, nodes } = chain.next();
      store.append(record, nodes);
    }
    store.close();
    use(directory, chain);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function open(directory: string, reindex = false) {
  return openDiskBlockStore({
    defer: deferNothing,
    directory,
    reindex,
    createTrie: createStateTrie,
    segmentBytesMax: 10_000,
    mergeLimits: { versionsMin: 20, nodeBytesMin: 20_000, blocksMin: 5, keysMax: 100 },
  });
}

/** Opens, and asserts that all blocks are there, how many had to be indexed, and that nothing is wrong. */
function assertOpens(directory: string, replayed: number, reindex = false): void {
  const store = open(directory, reindex);
  assert.deepEqual([store.head(), store.replayedBlocks], [BLOCKS - 1, replayed]);
  const { blocks, faults } = store.check();
  assert.deepEqual([blocks, faults], [BLOCKS, []]);
  store.close();
}

describe("openDiskBlockStore", () => {
  test("goes on with a reindex that was interrupted", () =>
    withStore((directory) => {
      class Interrupted extends Error {}
      let commits = 0;
      assert.throws(
        () =>
          openDiskBlockStore({
            defer: deferNothing,
            directory,
            reindex: true,
            createTrie: createStateTrie,
            segmentBytesMax: 10_000,
            replayBytesMax: 5_000,
            onReplay() {
              if (++commits === 3) throw new Interrupted();
            },
          }),
        Interrupted,
      );
      const store = open(directory, true);
      assert.ok(store.replayedBlocks > 0 && store.replayedBlocks < BLOCKS, "not from the front");
      assert.deepEqual(store.check().faults, []);
      store.close();
      // It is complete now: the next one begins from the front.
      assertOpens(directory, BLOCKS, true);
    }));

  test("keeps a store over close and open, without reading the log again", () =>
    withStore((directory, chain) => {
      assertOpens(directory, 0);
      const store = open(directory);
      const { record, nodes } = chain.next();
      store.append(record, nodes);
      store.close();
      const again = open(directory);
      assert.deepEqual([again.head(), again.replayedBlocks], [BLOCKS, 0]);
      again.close();
    }));

  test("rebuilds the index when it is missing, and when asked to", () =>
    withStore((directory) => {
      rmSync(join(directory, "index"), { recursive: true });
      assertOpens(directory, BLOCKS);
      assertOpens(directory, BLOCKS, true);
      assertOpens(directory, 0);
    }));

  test("rebuilds the index after a power cut, not after a kill", () =>
    withStore((directory) => {
      const state = join(directory, "index.state");
      assert.match(readFileSync(state, "latin1"), /^clean /);
      writeFileSync(state, "open 00000000-another-boot");
      assertOpens(directory, BLOCKS);
      rmSync(state);
      assertOpens(directory, BLOCKS);
      if (process.platform !== "linux") return;
      const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
      writeFileSync(state, `open ${boot}`);
      assertOpens(directory, 0);
    }));

  test("rebuilds the index when LMDB cannot open it", () =>
    withStore((directory) => {
      const file = join(directory, "index", "data.mdb");
      writeFileSync(file, Buffer.alloc(statSync(file).size, 7));
      assertOpens(directory, BLOCKS);
    }));

  test("rebuilds the index when the last start died while it was opened", () =>
    withStore((directory) => {
      writeFileSync(join(directory, "index.state"), "opening");
      assertOpens(directory, BLOCKS);
    }));

  test("rebuilds the index when it is of another log", () =>
    withStore((directory) => {
      rmSync(join(directory, "log"), { recursive: true });
      const other = new RandomChain(12);
      const elsewhere = mkdtempSync(join(tmpdir(), "evmint-store-"));
      const store = open(elsewhere);
      for (let i = 0; i < BLOCKS * 2; i++) {
        const { record, nodes } = other.next();
        store.append(record, nodes);
      }
      store.close();
      spawnSync("cp", ["-r", join(elsewhere, "log"), directory]);
      rmSync(elsewhere, { recursive: true });
      const mixed = open(directory);
      assert.deepEqual([mixed.head(), mixed.replayedBlocks], [BLOCKS * 2 - 1, BLOCKS * 2]);
      assert.deepEqual(mixed.check().faults, []);
      mixed.close();
    }));

  test("rejects an index or a log of a newer format by name, and leaves both alone", () =>
    withStore((directory) => {
      const kv = openLmdbKv(join(directory, "index"));
      const key = tableKey(TABLE.meta, Buffer.from(META.format));
      kv.transaction((writer) => writer.put(key, Uint8Array.of(99)));
      kv.close();
      assert.throws(() => open(directory), {
        code: "STORE_FORMAT_TOO_NEW",
        details: { what: "index", found: 99, known: INDEX_FORMAT },
      });
      assert.throws(() => open(directory), { code: "STORE_FORMAT_TOO_NEW" });
      const again = openLmdbKv(join(directory, "index"));
      again.transaction((writer) => writer.put(key, Uint8Array.of(INDEX_FORMAT)));
      again.close();
      assertOpens(directory, 0);
    }));

  test("goes on with an index of the format before, which the next block makes one of this", () =>
    withStore((directory, chain) => {
      const key = tableKey(TABLE.meta, Buffer.from(META.format));
      const kv = openLmdbKv(join(directory, "index"));
      kv.transaction((writer) => writer.put(key, Uint8Array.of(INDEX_FORMAT_MIN)));
      kv.close();
      const store = open(directory);
      assert.equal(store.replayedBlocks, 0);
      assert.deepEqual(store.row(key), Uint8Array.of(INDEX_FORMAT_MIN));
      const { record, nodes } = chain.next();
      store.append(record, nodes);
      assert.deepEqual(store.row(key), Uint8Array.of(INDEX_FORMAT));
      assert.deepEqual(store.check().faults, []);
      store.close();
    }));

  test("finds and removes transactions in rows with the whole hash, as formats before 6 wrote them", () =>
    withStore((directory) => {
      let store = open(directory);
      const hashes = Array.from({ length: BLOCKS }, (_, number) => store.block(number)!.block.transactions).flatMap(
        (transactions) => transactions.map(({ hash }) => hash),
      );
      const places = hashes.map((hash) => store.transactionPosition(hash));
      store.close();
      const rows = { from: tableKey(TABLE.transaction), to: tableKey(TABLE.transaction + 1) };
      const kv = openLmdbKv(join(directory, "index"));
      assert.equal(Array.from(kv.range(rows)).length, hashes.length);
      kv.transaction((writer) => {
        for (const hash of hashes) {
          const bytes = hashToBytes(hash);
          const short = tableKey(TABLE.transaction, bytes.subarray(0, 16));
          writer.put(tableKey(TABLE.transaction, bytes), writer.get(short)!);
          writer.remove(short);
        }
        writer.put(tableKey(TABLE.meta, Buffer.from(META.format)), Uint8Array.of(5));
      });
      kv.close();
      store = open(directory);
      assert.equal(store.replayedBlocks, 0);
      assert.ok(places.length > 30);
      assert.deepEqual(
        hashes.map((hash) => store.transactionPosition(hash)),
        places,
      );
      assert.deepEqual(store.check().faults, []);
      store.rollbackTo(0);
      assert.deepEqual(store.check().faults, []);
      store.close();
    }));

  test("rejects a log that lost acknowledged blocks, and one that is damaged in the middle", () =>
    withStore((directory) => {
      const files = readdirSync(join(directory, "log")).sort();
      const last = join(directory, "log", files.at(-1)!);
      const bytes = readFileSync(last);
      truncateSync(last, bytes.length - 1);
      assert.throws(() => open(directory), { code: "STORE_CORRUPT_LOG" });
      writeFileSync(last, bytes);
      assertOpens(directory, 0);
      rmSync(join(directory, "log", files[1]!));
      assert.throws(() => open(directory), { code: "STORE_CORRUPT_LOG" });
      assert.ok(existsSync(join(directory, "index")));
    }));

  test("rejects a second opener, and releases everything when opening fails", () =>
    withStore((directory) => {
      const store = open(directory);
      assert.throws(() => open(directory), {
        code: "STORE_LOCKED",
        details: { path: join(directory, "lock"), pid: process.pid },
      });
      store.close();
      store.close();
      assertOpens(directory, 0);
    }));

  test("rebuilds the index when a bit of a row is flipped while nobody has it open", () =>
    withStore((directory, chain) => {
      flipBitOfRows(directory, chain);
      assertOpens(directory, BLOCKS);
      assertOpens(directory, 0);
    }));

  test("answers with an error where a row is damaged while it is open, and rebuilds the index next time", () =>
    withStore((directory, chain) => {
      const store = open(directory);
      const address = flipBitOfRows(directory, chain);
      assert.throws(() => store.stateAt(BLOCKS - 1).account(address), {
        code: "STORE_CORRUPT_ROW",
      });
      assert.ok(store.check().faultCount > 0);
      store.close();
      assert.equal(readFileSync(join(directory, "index.state"), "latin1"), "damaged");
      assertOpens(directory, BLOCKS);
    }));

  test("answers with an error where a row is missing while it is open, and rebuilds the index next time", () =>
    withStore((directory) => {
      const store = openDiskBlockStore({
        defer: deferNothing,
        directory,
        createTrie: createStateTrie,
        openIndex(folder, onDamage) {
          const kv = createLossyKv(openLmdbKv(folder, onDamage));
          kv.isLost = (key) => key[0] === TABLE.position && key.at(-1) === 7;
          return kv;
        },
      });
      assert.throws(() => store.block(7), { code: "STORE_MISSING_ROW" });
      assert.equal(store.block(8)?.block.header.number, 8);
      store.close();
      assert.equal(readFileSync(join(directory, "index.state"), "latin1"), "damaged");
      assertOpens(directory, BLOCKS);
      assertOpens(directory, 0);
    }));

  test("without LMDB holds the index in memory, with the same blocks at every start", () =>
    withStore((directory, chain) => {
      const withoutLmdb = () =>
        openDiskBlockStore({
          defer: deferNothing,
          directory,
          createTrie: createStateTrie,
          openIndex() {
            throw new NativeStoreMissingError(new Error("no native build was found"));
          },
        });
      for (let start = 0; start < 2; start++) {
        const store = withoutLmdb();
        assert.deepEqual([store.head(), store.replayedBlocks], [BLOCKS - 1 + start, BLOCKS + start]);
        assert.deepEqual(store.check().faults, []);
        const { record, nodes } = chain.next();
        store.append(record, nodes);
        store.close();
      }
      // The index on disk is behind, and is brought forward once LMDB is there again.
      const store = open(directory);
      assert.equal(store.head(), BLOCKS + 1);
      assert.deepEqual(store.check().faults, []);
      store.close();
    }));

  test("serves its blocks on a full disk, with and without an index", () =>
    withStore((directory, chain) => {
      for (const hasIndex of [true, false]) {
        if (!hasIndex) rmSync(join(directory, "index"), { recursive: true });
        const store = openDiskBlockStore({
          defer: deferNothing,
          directory,
          createTrie: createStateTrie,
          freeBytes: () => 0,
        });
        assert.equal(store.head(), BLOCKS - 1);
        assert.equal(store.block(BLOCKS - 1)!.block.header.number, BLOCKS - 1);
        const { record, nodes } = chain.next();
        assert.throws(() => store.append(record, nodes), { code: "STORE_DISK_FULL" });
        store.close();
        assert.equal(existsSync(join(directory, "index")), hasIndex);
      }
    }));

  test("no damage to the files of the index changes what is answered", () =>
    withStore((directory) => {
      const random = mulberry32(9);
      const below = (limit: number) => Math.floor(random() * limit);
      const kept = mkdtempSync(join(tmpdir(), "evmint-store-"));
      cpSync(directory, kept, { recursive: true });
      let rebuilt = 0;
      const rounds = IS_NIGHTLY ? 60 : 24;
      for (let round = 0; round < rounds; round++) {
        rmSync(directory, { recursive: true });
        cpSync(kept, directory, { recursive: true });
        // Every other one as a killed process leaves it.
        if (round % 2 === 1) writeFileSync(join(directory, "index.state"), `open ${bootId() ?? ""}`);
        damage(join(directory, "index", "data.mdb"), below);
        const store = open(directory);
        if (store.replayedBlocks > 0) rebuilt++;
        assert.equal(store.head(), BLOCKS - 1);
        assert.deepEqual(store.check().faults, [], `round ${round}`);
        store.close();
      }
      assert.ok(rebuilt > rounds / 3, `${rebuilt} of ${rounds} were rebuilt`);
      rmSync(kept, { recursive: true });
    }));

  test("a flipped bit in the log is found by check, and no reader gets what it damaged", () =>
    withStore((directory) => {
      const file = join(directory, "log", readdirSync(join(directory, "log")).sort()[0]!);
      const store = open(directory);
      const whole = Array.from({ length: BLOCKS }, (_, n) => store.block(n)!.block.hash);
      store.close();
      for (let i = 0; i < 10; i++) {
        const at = 24 + ((i * 7_919) % (statSync(file).size - 24));
        flipBit(file, at);
        const damaged = open(directory);
        const { faults } = damaged.check();
        assert.ok(faults.some(({ kind }) => kind === "log"));
        let rejected = 0;
        for (const [number, hash] of whole.entries()) {
          try {
            assert.equal(damaged.block(number)!.block.hash, hash);
          } catch (error) {
            assert.equal((error as { code?: string }).code, "STORE_CORRUPT_LOG");
            rejected++;
          }
        }
        assert.equal(rejected, 1);
        damaged.close();
        flipBit(file, at);
      }
    }));
});

/** Zeroes a page, flips some bits, cuts the end off or removes the file. */
function damage(file: string, below: (limit: number) => number): void {
  const content = readFileSync(file);
  const kind = below(8);
  if (kind === 0) {
    rmSync(file);
  } else if (kind === 1) {
    truncateSync(file, below(content.length));
  } else if (kind < 5) {
    const page = below(content.length / 4096) * 4096;
    writeFileSync(file, content.fill(0, page, page + 4096));
  } else {
    for (let flips = 1 + below(40); flips > 0; flips--) {
      content[below(content.length)]! ^= 1 << below(8);
    }
    writeFileSync(file, content);
  }
}

/** Flips a bit in the latest value of an account of the last block, which is returned. */
function flipBitOfRows(directory: string, chain: RandomChain): Address {
  const file = join(directory, "index", "data.mdb");
  const content = readFileSync(file);
  const address = chain.lastAddress();
  const key = Buffer.concat([Buffer.of(TABLE.account), Buffer.from(address.slice(2), "hex")]);
  let flipped = 0;
  // Older versions of the row are in free pages.
  for (let at = content.indexOf(key); at >= 0; at = content.indexOf(key, at + 1)) {
    flipBit(file, at + key.length + 2);
    flipped++;
  }
  assert.ok(flipped > 0);
  return address;
}

function flipBit(file: string, offset: number): void {
  const fd = openSync(file, "r+");
  const byte = Buffer.alloc(1);
  readSync(fd, byte, 0, 1, offset);
  byte[0]! ^= 0x10;
  writeSync(fd, byte, 0, 1, offset);
  closeSync(fd);
}
