import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { RandomChain } from "../../../test/support/chain/random-chain.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import type { BlockRecord } from "../../chain/block-store.ts";
import { deferNothing } from "../../chain/store/background-work.ts";
import type { LogBlockStore } from "../../chain/store/log-block-store.ts";
import { openDiskBlockStore } from "../../chain/store/open-block-store.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { loadConfig } from "../config/load.ts";
import { FollowedChain } from "./followed-chain.ts";

const BLOCKS = 6;

describe("FollowedChain", () => {
  let directory: string;
  let store: LogBlockStore;
  let chain: RandomChain;
  let records: BlockRecord[];
  let followed: FollowedChain;
  let onStep: (step: string) => void;

  /** @param chainPid of the process that writes the store */
  function follow(chainPid: number): FollowedChain {
    return new FollowedChain(
      {
        store: { directory, head: join(directory, "head") },
        opened: join(directory, "opened"),
        config: loadConfig({ home: directory, dev: false, flags: {}, environment: {} }).config,
        chainConfig: { chainId: 1n, blobSchedule: {} },
        genesisHash: records[0]!.block.hash,
        genesisTime: records[0]!.block.header.timestamp,
        tls: undefined,
        index: 0,
        count: 1,
        chainPid,
        reportsCalls: false,
      },
      assert.ifError,
      undefined,
      fatalTimers,
    );
  }

  function append(): void {
    const { record, nodes } = chain.next();
    store.append(record, nodes);
    records.push(record);
  }

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "followed-"));
    onStep = () => {};
    store = openDiskBlockStore({
      defer: deferNothing,
      directory,
      createTrie: (nodes) => createStateTrie(nodes, { cacheBytes: 200_000 }),
      failPoint: (step) => onStep(step),
    });
    chain = new RandomChain(7);
    records = [];
    for (let i = 0; i < BLOCKS; i++) append();
    store.publishToFile(join(directory, "head"), assert.ifError);
    followed = follow(process.ppid);
  });

  afterEach(() => {
    followed.close();
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const headNumber = () => followed.read(() => followed.reader.head().block.header.number);

  test("a run of code reads one head, and the next run what was committed before it", async () => {
    assert.equal(headNumber(), BLOCKS - 1);
    append();
    assert.equal(headNumber(), BLOCKS - 1);
    await null;
    assert.equal(headNumber(), BLOCKS);
    append();
    await null;
    assert.equal(headNumber(), BLOCKS + 1);
  });

  test("a read that a rollback overtook runs again on the chain after it", async () => {
    const removed = records[BLOCKS - 1]!.block.hash;
    assert.equal(
      followed.read(() => followed.reader.numberOf(removed)),
      BLOCKS - 1,
    );
    await null;
    let runs = 0;
    const found = followed.read(() => {
      if (++runs === 1) {
        store.rollbackTo(2);
        chain = RandomChain.from(8, records.slice(0, 3));
        append();
      }
      return [followed.reader.numberOf(removed), followed.reader.head().block.hash];
    });
    assert.deepEqual(found, [undefined, records.at(-1)!.block.hash]);
    assert.equal(runs, 2);
  });

  test("a read that a rollback overtook and that fails for it runs again", () => {
    let runs = 0;
    const number = followed.read(() => {
      if (++runs === 1) store.rollbackTo(1);
      // Its record is cut off the log, and it was not read before.
      return followed.reader.block(3)?.block.header.number;
    });
    assert.equal(number, undefined);
    assert.equal(runs, 2);
  });

  test("newestEpoch is that of the store before anything is read after a rollback", () => {
    headNumber();
    const before = followed.newestEpoch();
    store.rollbackTo(2);
    assert.equal(followed.newestEpoch(), store.epoch);
    assert.notEqual(store.epoch, before);
    assert.equal(headNumber(), 2);
  });

  test("a read of what is in memory is of the chain as it was when its run began", async () => {
    const hash = followed.read(() => followed.reader.blockHash(4));
    await null;
    let runs = 0;
    const read = () => {
      if (++runs === 1) store.rollbackTo(2);
      return followed.reader.blockHash(4);
    };
    assert.equal(followed.read(read), hash);
    assert.equal(runs, 1);
    await null;
    assert.equal(followed.read(read), undefined);
  });

  test("it does not wait for the end of a removal by a process that is gone", async () => {
    const orphan = follow(-1);
    let failure: unknown;
    onStep = (step) => {
      if (step !== "rollback:log") return;
      try {
        orphan.read(() => orphan.reader.head());
      } catch (error) {
        failure = error;
      }
    };
    await null;
    store.rollbackTo(2);
    orphan.close();
    assert.equal((failure as { code?: string }).code, "RPC_CHAIN_UNREACHABLE");
  });
});
