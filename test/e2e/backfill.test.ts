import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { privateKeyToAccount } from "viem/accounts";
import { createFailures } from "../../src/base/telemetry/failures.ts";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { createMetrics } from "../../src/base/telemetry/metrics.ts";
import type { Chain } from "../../src/chain/chain.ts";
import { divideCacheSize } from "../../src/chain/store/cache-sizes.ts";
import { adoptBackfilledLog } from "../../src/chain/store/replace-log.ts";
import { SnapshotRestore } from "../../src/consensus/state-sync/restore.ts";
import { SnapshotFiles } from "../../src/consensus/state-sync/snapshot-files.ts";
import { SNAPSHOT_FORMAT } from "../../src/consensus/state-sync/snapshot-format.ts";
import { createSnapshots } from "../../src/consensus/state-sync/snapshots.ts";
import { type BackfillOptions, backfill } from "../../src/node/chain-files/backfill.ts";
import { importFileBlock } from "../../src/node/chain-files/chain-file.ts";
import { exportChainFile } from "../../src/node/chain-files/transfer-chain-file.ts";
import type { Config } from "../../src/node/config/config.ts";
import { DEFAULT_CHAIN_ID } from "../../src/node/config/genesis/genesis.ts";
import { dataPath } from "../../src/node/config/home.ts";
import { loadConfig } from "../../src/node/config/load.ts";
import { executionModules } from "../../src/node/roles/chain/execution-modules.ts";
import { openChain } from "../../src/node/roles/chain/open-chain.ts";
import { nodeOperations } from "../../src/node/roles/operations.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { STRICT_LOGGER } from "../support/base/telemetry/strict-logger.ts";
import { plain } from "../support/chain/plain.ts";
import { startConfiguredNode } from "../support/configured-node.ts";
import { consensusDataIn } from "../support/consensus/state-sync/consensus-data-in.ts";
import type { TestNode } from "../support/test-node.ts";

const BASE = 12;
const HEAD = 16;
const STEPS = [
  "backfill:imported",
  "backfill:base",
  "backfill:copied",
  "backfill:index",
  "replace:backup",
  "backfill:replaced",
];

const folder = mkdtempSync(join(tmpdir(), "evmint-backfill-"));
let origin: TestNode;
/** A home whose chain begins at the snapshot of block `BASE` and ends at `HEAD`. */
let restored: string;
/** Blocks 1 to `HEAD` of the origin. */
const whole = join(folder, "chain.rlp.gz");
let homes = 0;

before(async () => {
  origin = await startConfiguredNode({ settings: { "consensus.block-time": "manual" } }, "amsterdam");
  for (let number = 1; number <= HEAD; number++) {
    const raw = await signTransfer(number - 1);
    await origin.node.provider.request({ method: "eth_sendRawTransaction", params: [raw] });
    origin.produceBlock();
    if (number === BASE) await restoreSnapshot();
  }
  const { chain } = origin.node.core;
  await exportBlocks(1, HEAD, whole);
  const opened = openChain(configOf(restored), { log: STRICT_LOGGER, timers: fatalTimers });
  for (let number = BASE + 1; number <= HEAD; number++) {
    const { block } = chain.block(number)!;
    const consensusData = chain.consensusDataOf(number);
    importFileBlock(opened.chain, { block, consensusData }, executionModules(opened.chain));
  }
  opened.store.close();
});

after(async () => {
  await origin.stop();
  rmSync(folder, { recursive: true });
});

function signTransfer(nonce: number): Promise<`0x${string}`> {
  return privateKeyToAccount(DEV_KEYS[0]).signTransaction({
    type: "eip1559",
    chainId: Number(DEFAULT_CHAIN_ID),
    nonce,
    gas: 21_000n,
    to: DEV_ADDRESSES[nonce % 3]!,
    value: 1n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
  });
}

async function restoreSnapshot(): Promise<void> {
  restored = join(folder, "restored");
  mkdirSync(restored);
  cpSync(join(origin.home, "config"), join(restored, "config"), { recursive: true });
  const { chain, store } = origin.node.core;
  const files = new SnapshotFiles(join(folder, "snapshots"));
  const metrics = createMetrics();
  const failures = createFailures(STRICT_LOGGER, metrics);
  const snapshots = createSnapshots(
    { interval: 0 },
    {
      chain,
      files,
      metrics,
      failures,
      log: STRICT_LOGGER,
      store,
    },
  );
  await snapshots.take();
  const [snapshot] = files.list();
  const restore = new SnapshotRestore(
    { directory: dataPath(restored), config: chain.config },
    { source: consensusDataIn(chain), log: STRICT_LOGGER },
  );
  restore.offerSnapshot(snapshot!, chain.blockHash(BASE)!);
  for (let index = 0; index < snapshot!.chunks; index++) {
    await restore.applySnapshotChunk(index, files.chunk(BASE, SNAPSHOT_FORMAT, index), "peer");
  }
  assert.notEqual(restore.restored(), undefined);
}

function configOf(home: string): Config {
  return loadConfig({ home, dev: false, flags: {}, environment: {} }).config;
}

/** A copy of the restored home. */
function copyHome(): Config {
  const home = join(folder, `home-${homes++}`);
  cpSync(restored, home, { recursive: true });
  return configOf(home);
}

function exportBlocks(first: number, last: number, path = join(folder, `${first}-${last}.rlp`)) {
  const options = { mayContinue: () => true };
  rmSync(path, { force: true });
  return exportChainFile(path, origin.node.core.chain, { first, last }, options).then(() => path);
}

function importFile(config: Config, file: string) {
  const work = { file, onProgress() {}, signal: new AbortController().signal };
  return nodeOperations.importChain(config, STRICT_LOGGER, work);
}

/** A block with its result: what does not depend on whether it was imported. */
function executed(chain: Pick<Chain, "block">, number: number) {
  const { block, senders, receipts } = chain.block(number)!;
  return plain({ block, senders, receipts });
}

/**
 * The chain has every block, receipt and state of the origin, and no leftovers.
 * @param imported first block after the base that came from a file, which has no consensus data
 */
function assertWhole(config: Config, imported = HEAD + 1): void {
  const { chain: theirs, store: theirStore } = origin.node.core;
  const { chain, store } = openChain(config, { log: STRICT_LOGGER, timers: fatalTimers });
  try {
    assert.equal(store.base(), 0);
    assert.equal(store.head(), HEAD);
    assert.deepEqual(store.check().faults, []);
    for (let number = 0; number <= HEAD; number++) {
      assert.deepEqual(executed(chain, number), executed(theirs, number));
      assert.deepEqual(plain(store.changes(number)), plain(theirStore.changes(number)));
      assert.ok(chain.accessList(number) !== undefined);
      assert.deepEqual(plain(chain.accessList(number)), plain(theirs.accessList(number)));
      const sent = theirs.block(number)!.block.transactions;
      for (const [index, { hash }] of sent.entries()) {
        assert.deepEqual(chain.transactionPosition(hash), { number, index });
      }
      if (number < BASE || number >= imported) continue;
      assert.deepEqual([...chain.consensusDataOf(number)], [...theirs.consensusDataOf(number)]);
    }
    for (const left of ["backfill", "log.pruned.backup"]) {
      assert.equal(existsSync(join(dataPath(config.home), left)), false, left);
    }
  } finally {
    store.close();
  }
}

test("an import fills in the blocks before the base of a restored chain", async () => {
  const config = copyHome();
  const opened = openChain(config, { log: STRICT_LOGGER, timers: fatalTimers });
  assert.throws(() => opened.chain.block(BASE - 1), { code: "BLOCK_PRUNED" });
  opened.store.close();
  assert.deepEqual(await importFile(config, whole), {
    imported: BASE - 1,
    skipped: HEAD - BASE + 1,
    head: HEAD,
  });
  assertWhole(config);
  assert.deepEqual(await importFile(config, whole), { imported: 0, skipped: HEAD, head: HEAD });
});

test("an import fills in the blocks from several files, and adds those after the head", async () => {
  const config = copyHome();
  const opened = openChain(config, { log: STRICT_LOGGER, timers: fatalTimers });
  opened.chain.rollbackTo(HEAD - 2);
  opened.store.close();
  assert.deepEqual(await importFile(config, await exportBlocks(1, 5)), {
    imported: 5,
    skipped: 0,
    head: HEAD - 2,
  });
  await assert.rejects(importFile(config, await exportBlocks(8, HEAD)), { code: "IMPORT_FOREIGN" });
  assert.deepEqual(await importFile(config, await exportBlocks(5, HEAD)), {
    imported: BASE - 6 + 2,
    skipped: HEAD - 2 - BASE + 2,
    head: HEAD,
  });
  assertWhole(config, HEAD - 1);
});

test("blocks of another chain are rejected and removed, and the chain stays as it was", async () => {
  const other = await startConfiguredNode({ settings: { "consensus.block-time": "manual" } }, "amsterdam");
  const file = join(folder, "other.rlp");
  try {
    for (let number = 1; number <= HEAD; number++) other.produceBlock();
    const options = { mayContinue: () => true };
    await exportChainFile(file, other.node.core.chain, { first: 1, last: HEAD }, options);
  } finally {
    await other.stop();
  }
  const config = copyHome();
  await assert.rejects(importFile(config, file), { code: "IMPORT_FORKS" });
  assert.equal(existsSync(join(dataPath(config.home), "backfill")), false);
  assert.equal((await importFile(config, whole)).imported, BASE - 1);
  assertWhole(config);
});

for (const step of STEPS) {
  test(`a backfill that dies at ${step} is finished by the next import`, async () => {
    const config = copyHome();
    const directory = dataPath(config.home);
    const failPoint = (name: string) => {
      if (name === step) throw new Error("dead");
    };
    const opened = openChain(config, { log: STRICT_LOGGER, timers: fatalTimers });
    const options: BackfillOptions = {
      directory,
      file: whole,
      failPoint,
      caches: divideCacheSize(1 << 20),
      executionOf: executionModules,
      steps: (chain) => ({
        mayContinue: () => true,
        importBlock: (block) => importFileBlock(chain, block, executionModules(chain)),
      }),
    };
    const dies = async () => {
      await backfill(opened, options, { log: STRICT_LOGGER, timers: fatalTimers }).finally(() => opened.store.close());
      adoptBackfilledLog(directory, failPoint);
    };
    await assert.rejects(dies, { message: "dead" });
    await importFile(config, whole);
    assertWhole(config);
  });
}
