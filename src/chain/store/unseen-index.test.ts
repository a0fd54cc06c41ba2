import assert from "node:assert/strict";
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { RandomChain } from "../../../test/support/chain/random-chain.ts";
import { type Hash, hashToBytes } from "../../base/primitives/hash.ts";
import { SILENT_LOGGER } from "../../base/telemetry/logger.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { bootId } from "../../store/storage/lock.ts";
import { TABLE, tableKey } from "../../store/storage/schema.ts";
import { IndexFiles } from "./index/index-files.ts";
import type { LogBlockStore } from "./log-block-store.ts";
import { openDiskBlockStore } from "./open-block-store.ts";
import type { RetentionOptions } from "./retention/retention.ts";

const BLOCKS = 40;
const RETENTION = { blocks: 30, states: 20, proofs: 10, blocksMin: 1 };

type Opened = {
  readonly store: LogBlockStore;
  /** What the check in the background finds. */
  readonly fault: Promise<Error | undefined>;
};

/** Opens an index of any size that was closed before it is checked. */
function openUnseen(directory: string, retention?: RetentionOptions, logger = SILENT_LOGGER): Opened {
  let onIndexFault: (fault: Error) => void = () => {};
  const damage = new Promise<Error>((settle) => {
    onIndexFault = settle;
  });
  const store = openDiskBlockStore({
    directory,
    createTrie: createStateTrie,
    segmentBytesMax: 10_000,
    mergeLimits: { versionsMin: 20, nodeBytesMin: 20_000, blocksMin: 5, keysMax: 100 },
    checkedFirstBytesMax: 0,
    retention,
    logger,
    defer: (work) => void setImmediate(work),
    onIndexFault,
  });
  return { store, fault: Promise.race([damage, store.untilChecked().then(() => undefined)]) };
}

/** A directory with a closed store of a random chain in it. */
async function withStore(
  use: (directory: string, chain: RandomChain) => void | Promise<void>,
  retention?: RetentionOptions,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "evmint-unseen-"));
  // The thread that checks does not hold the process.
  const alive = setInterval(() => {}, 1_000);
  try {
    const chain = new RandomChain(23);
    const { store } = openUnseen(directory, retention);
    for (let i = 0; i < BLOCKS; i++) append(store, chain);
    store.close();
    await use(directory, chain);
  } finally {
    clearInterval(alive);
    rmSync(directory, { recursive: true });
  }
}

function append(store: LogBlockStore, chain: RandomChain): void {
  const { record, nodes } = chain.next();
  store.append(record, nodes);
}

const dataFile = (directory: string) => join(directory, "index/data.mdb");
const stateOf = (directory: string) => readFileSync(join(directory, "index.state"), "latin1");

/** Changes the bytes of a file as its medium does, without a trace in the file system. */
function rot(path: string, change: (content: Buffer) => void): void {
  const content = readFileSync(path);
  change(content);
  keepingTime(path, path, () => writeFileSync(path, content));
}

/** Gives the file `to`, which `work` writes, the time of the last change that `from` has, to the millisecond. */
function keepingTime(from: string, to: string, work: () => void): void {
  const seconds = (Number(statSync(from, { bigint: true }).mtimeMs) + 0.5) / 1_000;
  work();
  utimesSync(to, seconds, seconds);
}

/** Flips a bit of the row with the number of the block `hash`, wherever a page has it. */
function rotRowOf(directory: string, hash: Hash): void {
  rot(dataFile(directory), (content) => {
    const key = tableKey(TABLE.blockByHash, hashToBytes(hash));
    let flipped = 0;
    for (let at = content.indexOf(key); at >= 0; at = content.indexOf(key, at + 1)) {
      content[at + key.length]! ^= 4;
      flipped++;
    }
    assert.ok(flipped > 0);
  });
}

for (const retention of [undefined, RETENTION]) {
  const which = retention === undefined ? "" : ", of a store with retention";
  test(`an index that is opened before its check is read at once, and not written to before the check has ended${which}`, () =>
    withStore(async (directory, chain) => {
      for (let times = 0; times < 3; times++) {
        const { store, fault } = openUnseen(directory, retention);
        const head = store.head()!;
        assert.deepEqual([store.isUnchecked, store.header(head)?.number], [true, head]);
        const { record, nodes } = chain.next();
        const written = readFileSync(dataFile(directory));
        const works = [
          () => store.append(record, nodes),
          () => store.rollbackTo(head - 1),
          () => store.mergeSome(),
          () => store.pruneSome(),
        ];
        for (const work of works) assert.throws(work, { code: "STORE_UNCHECKED" });
        // What was deferred at the opening has had its turn.
        await new Promise(setImmediate);
        if (store.isUnchecked) assert.ok(written.equals(readFileSync(dataFile(directory))));
        assert.deepEqual([await fault, store.isUnchecked], [undefined, false]);
        store.append(record, nodes);
        for (let i = 0; i < 20; i++) append(store, chain);
        while (store.mergeSome());
        while (retention !== undefined && store.pruneSome());
        assert.deepEqual(store.check().faults, []);
        store.close();
        assert.match(stateOf(directory), /^clean /);
      }
    }, retention));
}

test("what the medium changed is found while the index is open: no block was added, none is, and the next start makes it anew", () =>
  withStore(async (directory, chain) => {
    const { store } = openUnseen(directory);
    await store.untilChecked();
    const hash = store.blockHash(7)!;
    store.close();
    rotRowOf(directory, hash);
    const damaged = openUnseen(directory);
    const { record, nodes } = chain.next();
    assert.throws(() => damaged.store.append(record, nodes), { code: "STORE_UNCHECKED" });
    const fault = await damaged.fault;
    assert.equal((fault as { code?: string } | undefined)?.code, "STORE_CORRUPT_INDEX");
    assert.throws(() => damaged.store.append(record, nodes), { code: "STORE_POISONED" });
    damaged.store.close();
    assert.doesNotMatch(stateOf(directory), /^clean/);
    const repaired = openUnseen(directory);
    assert.deepEqual([repaired.store.replayedBlocks, repaired.store.isUnchecked], [BLOCKS, false]);
    assert.deepEqual(repaired.store.check().faults, []);
    repaired.store.close();
  }));

test("a rebuild of a damaged index names the first block that was made since the index was last checked", () =>
  withStore(async (directory, chain) => {
    const rotten = async (blocks: number) => {
      const { store } = openUnseen(directory);
      await store.untilChecked();
      for (let i = 0; i < blocks; i++) append(store, chain);
      const hash = store.blockHash(7)!;
      store.close();
      rotRowOf(directory, hash);
    };
    const repair = async () => {
      const { store, fault } = openUnseen(directory);
      assert.ok((await fault) instanceof Error);
      store.close();
      const warned: unknown[] = [];
      const logger = { ...SILENT_LOGGER, warn: (_: string, data?: object) => warned.push(data) };
      openUnseen(directory, undefined, logger).store.close();
      return warned.flatMap((data) => (data as { from?: number }).from ?? []);
    };
    await rotten(3);
    // 40 blocks from 0 on were there at the check.
    assert.deepEqual(await repair(), [BLOCKS]);
    await rotten(0);
    assert.deepEqual(await repair(), []);
    // Nobody knows it of a home that another version has left.
    await rotten(2);
    rmSync(join(directory, "index.checked"));
    assert.deepEqual(await repair(), []);
  }));

test("a process that is killed before the check has ended leaves an index that is checked before it is opened", () =>
  withStore(async (directory) => {
    const { store } = openUnseen(directory);
    const hash = store.blockHash(7)!;
    store.close();
    rotRowOf(directory, hash);
    writeFileSync(join(directory, "index.state"), `open ${bootId() ?? ""}`);
    const repaired = openUnseen(directory);
    assert.equal(repaired.store.replayedBlocks, BLOCKS);
    repaired.store.close();
  }));

test("an index that is closed before its check has ended is not clean: the next start checks it before it opens it", () =>
  withStore(async (directory) => {
    const { store } = openUnseen(directory);
    await store.untilChecked();
    const hash = store.blockHash(7)!;
    store.close();
    openUnseen(directory).store.close();
    assert.equal(stateOf(directory), "unchecked");
    const whole = openUnseen(directory);
    assert.deepEqual([whole.store.isUnchecked, whole.store.replayedBlocks], [false, 0]);
    whole.store.close();
    assert.match(stateOf(directory), /^clean /);
    rotRowOf(directory, hash);
    openUnseen(directory).store.close();
    assert.equal(stateOf(directory), "unchecked");
    const repaired = openUnseen(directory);
    assert.deepEqual([repaired.store.isUnchecked, repaired.store.replayedBlocks], [false, BLOCKS]);
    repaired.store.close();
  }));

test("an index of any size is checked before it is opened where its owner does not wait for a check", () =>
  withStore((directory) => {
    const { store } = openUnseen(directory);
    const hash = store.blockHash(7)!;
    store.close();
    rotRowOf(directory, hash);
    assert.match(new IndexFiles(directory).findFault() ?? "", /damaged/);
  }));

const CHANGES: Readonly<Record<string, (directory: string) => void>> = {
  "was written to": (directory) => {
    const content = readFileSync(dataFile(directory));
    writeFileSync(dataFile(directory), content);
    // A write within the same millisecond has the same time.
    utimesSync(dataFile(directory), new Date(), new Date(Date.now() + 1_000));
  },
  "was copied": (directory) => {
    const copy = join(directory, "copy");
    keepingTime(dataFile(directory), copy, () => copyFileSync(dataFile(directory), copy));
    renameSync(copy, dataFile(directory));
  },
  "was closed by an older version": (directory) => writeFileSync(join(directory, "index.state"), "clean"),
};

for (const [what, change] of Object.entries(CHANGES)) {
  test(`an index that ${what} is checked before it is opened`, () =>
    withStore((directory) => {
      const closed = new IndexFiles(directory, 0);
      assert.deepEqual([closed.findFault(), closed.isUnchecked], [undefined, true]);
      change(directory);
      const changed = new IndexFiles(directory, 0);
      assert.deepEqual([changed.findFault(), changed.isUnchecked], [undefined, false]);
    }));
}
