import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { ALICE, CODE, CONTRACT, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { checksumAddress } from "../../../base/primitives/address.ts";
import { hashFromBigint, ZERO_HASH } from "../../../base/primitives/hash.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { SharedSlices } from "../../../base/threads/shared-slices.ts";
import { encodeBlock } from "../../../base/types/block-codec.ts";
import { encodeHeader } from "../../../base/types/header-codec.ts";
import { byHash } from "../../ports/block-selector.ts";
import { jsonString } from "../../transport/codec.ts";
import { seedHash } from "./database.ts";
import { getBlockRlp, getHeaderRlp, printBlock } from "./raw.ts";
import { accountRange, dumpBlock, dumpTextInSteps, storageRangeAt } from "./state.ts";
import { getModifiedAccountsByHash, getModifiedAccountsByNumber, stateSize } from "./state-changes.ts";

const UNKNOWN_BLOCK = { code: "RPC_UNKNOWN_BLOCK" };
const INVALID_PARAMS = { code: "RPC_INVALID_PARAMS" };

/** Epochs 0 to 3, computed by ethash implementations. */
const SEEDS: readonly (readonly [number, string])[] = [
  [0, ZERO_HASH],
  [29_999, ZERO_HASH],
  [30_000, "0x290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e563"],
  [60_000, "0x510e4e770828ddbf7f7b00ab00a9f6adaf81c0dc9cc85f1f8249c256942d61d9"],
  [90_000, "0x356e5a2cc1eba076e650ac7473fccc37952b46bc2e419a200cec0c451dce2336"],
];

const modules = createTestModules();
const { block } = modules.blocks[1]!;

test("debug_getBlockRlp and debug_getHeaderRlp take a JSON number, a QUANTITY or a tag", async () => {
  for (const at of [1, "0x1"]) {
    assert.equal(await getBlockRlp.call(modules, [at]), bytesToHex(encodeBlock(block)));
    assert.equal(await getHeaderRlp.call(modules, [at]), bytesToHex(encodeHeader(block.header)));
  }
  const head = modules.blocks.at(-1)!.block;
  assert.equal(await getBlockRlp.call(modules, ["latest"]), bytesToHex(encodeBlock(head)));
});

for (const method of [getBlockRlp, getHeaderRlp, printBlock, seedHash]) {
  test(`${method.name} rejects an unknown block and what is no number`, async () => {
    await assert.rejects(method.call(modules, [99]), UNKNOWN_BLOCK);
    for (const wrong of [-1, 1.5, true, {}, "nine"]) {
      await assert.rejects(method.call(modules, [wrong]), INVALID_PARAMS);
    }
  });
}

test("debug_printBlock names the block's fields", async () => {
  const text = await printBlock.call(modules, [1]);
  assert.ok(typeof text === "string");
  for (const { hash } of block.transactions) assert.ok(text.includes(hash));
  assert.ok(text.includes(block.header.parentHash));
  // As an object of JavaScript, in as many columns for each level.
  assert.match(text, /^\{\n {2}hash: '0x[0-9a-f]{64}',\n {2}header: \{\n {4}\S/);
  assert.match(text, /\n {2}transactions: \[\n {4}\{\n {6}\S[\s\S]*\n {4}\},\n {2}\],\n[\s\S]*\}\n$/);
});

test("debug_printBlock lets other work run between the transactions", async () => {
  // Each look at the clock is a slice.
  const timers = new ManualTimers({ msPerLook: 10 });
  let turns = 0;
  const slices = new SharedSlices({
    now: () => timers.now(),
    deferred: (where, work) =>
      timers.deferred(where, () => {
        turns++;
        work();
      }),
  });
  const { sessions } = modules;
  const slow = { ...modules, sessions: { ...sessions, slices: { ...sessions.slices, json: slices } } };
  await printBlock.call(slow, [1]);
  assert.ok(turns >= block.transactions.length, `${turns} turns`);
});

test("debug_seedHash hashes the seed once an epoch", async () => {
  const chain = { header: () => ({ hash: block.hash, header: block.header }) };
  for (const [number, seed] of SEEDS) assert.equal(await seedHash.call({ chain }, [number]), seed);
});

const dumped = {
  address: CONTRACT,
  hash: hashFromBigint(5n),
  nonce: 1n,
  balance: 10n ** 21n,
  codeHash: hashFromBigint(6n),
  storageRoot: hashFromBigint(7n),
  code: CODE,
  storage: [[hashFromBigint(1n), 0x1000n]] as const,
};

test("debug_dumpBlock writes accounts as geth does", async () => {
  const withDump = createTestModules({
    inspection: {
      dumpState: () => ({ root: ZERO_HASH, accounts: [dumped], next: hashFromBigint(255n) }),
    },
  });
  assert.deepEqual(await dumpBlock.call(withDump, ["latest"]), {
    root: ZERO_HASH.slice(2),
    accounts: {
      [checksumAddress(CONTRACT)]: {
        balance: "1000000000000000000000",
        nonce: 1,
        root: hashFromBigint(7n),
        codeHash: hashFromBigint(6n),
        code: bytesToHex(CODE),
        storage: { [hashFromBigint(1n)]: "1000" },
        address: CONTRACT,
        key: hashFromBigint(5n),
      },
    },
    next: hashFromBigint(255n),
  });
});

test("debug_dumpBlock writes a quarter of a megabyte a step at most, also of one account with many slots", () => {
  const slots = Array.from({ length: 20_000 }, (_, i) => [hashFromBigint(BigInt(i)), BigInt(i + 1)] as const);
  const code = new Uint8Array(120_000);
  for (const accounts of [[{ ...dumped, storage: slots }], Array.from({ length: 30 }, () => ({ ...dumped, code }))]) {
    const steps = dumpTextInSteps({ root: ZERO_HASH, accounts, next: undefined });
    let count = 1;
    let step = steps.next();
    for (; !step.done; step = steps.next()) count++;
    const text = jsonString(step.value);
    const { accounts: shown } = JSON.parse(text);
    if (accounts.length === 1) assert.equal(Object.keys(shown[checksumAddress(CONTRACT)].storage).length, slots.length);
    assert.ok(text.length / count < 256 << 10, `${text.length} in ${count} steps`);
  }
});

test("debug_stateSize names its figures as geth does", async () => {
  const sizes = (count: number) => ({ count, bytes: 100 * count });
  const withSize = createTestModules({
    inspection: {
      stateSize: () => ({
        number: 16,
        root: ZERO_HASH,
        accounts: sizes(1),
        slots: sizes(2),
        accountNodes: sizes(3),
        storageNodes: sizes(4),
        codes: sizes(5),
      }),
    },
  });
  assert.deepEqual(await stateSize.call(withSize, []), {
    stateRoot: ZERO_HASH,
    blockNumber: "0x10",
    accounts: "0x1",
    accountBytes: "0x64",
    storages: "0x2",
    storageBytes: "0xc8",
    accountTrienodes: "0x3",
    accountTrienodeBytes: "0x12c",
    storageTrienodes: "0x4",
    storageTrienodeBytes: "0x190",
    contractCodes: "0x5",
    contractCodeBytes: "0x1f4",
  });
});

test("debug_accountRange passes its options on, at most 256 accounts", async () => {
  const seen: unknown[] = [];
  const recording = createTestModules({
    inspection: {
      dumpState({ request: { start, ...options } }) {
        seen.push({ start: bytesToHex(start), ...options });
        return { root: ZERO_HASH, accounts: [], next: undefined };
      },
    },
  });
  await accountRange.call(recording, ["latest", "0x10", 3, true, false, false]);
  for (const max of [0, -1, 257]) {
    await accountRange.call(recording, ["latest", "0x", max, false, true, true]);
  }
  const capped = { start: "0x", accountsMax: 256, withCode: true, withStorage: false };
  assert.deepEqual(seen, [
    { start: "0x10", accountsMax: 3, withCode: false, withStorage: true },
    capped,
    capped,
    capped,
  ]);
  for (const wrong of [[], ["latest", "0x", "3", true, true, true], ["latest", 1, 3, true, true, true]]) {
    await assert.rejects(accountRange.call(recording, wrong), INVALID_PARAMS);
  }
});

test("debug_storageRangeAt: storage is null where there is none", async () => {
  assert.deepEqual(await storageRangeAt.call(modules, ["latest", 0, ALICE, "0x", 1]), {
    storage: null,
    nextKey: null,
  });
  for (const wrong of [
    ["latest", "0x0", ALICE, "0x", 1],
    ["latest", 0, "0x1", "0x", 1],
    ["latest", 0, ALICE, "0x"],
  ]) {
    await assert.rejects(storageRangeAt.call(modules, wrong), INVALID_PARAMS);
  }
});

test("debug_getModifiedAccounts wants two blocks of the chain, the older one first", async () => {
  for (const wrong of [[99], [0, 99], [1, 0], [1, 1], [0]]) {
    await assert.rejects(getModifiedAccountsByNumber.call(modules, wrong), UNKNOWN_BLOCK);
  }
  const genesis = modules.blocks[0]!.block.hash;
  for (const wrong of [[ZERO_HASH], [genesis, ZERO_HASH], [block.hash, genesis], [genesis]]) {
    await assert.rejects(getModifiedAccountsByHash.call(modules, wrong), UNKNOWN_BLOCK);
  }
  await assert.rejects(getModifiedAccountsByHash.call(modules, ["0x1"]), INVALID_PARAMS);
  await assert.rejects(getModifiedAccountsByNumber.call(modules, ["one"]), INVALID_PARAMS);
});

test("debug_getModifiedAccounts with one block compares it with its parent", async () => {
  const seen: unknown[] = [];
  const recording = createTestModules({
    inspection: {
      modifiedAccounts({ first, at }) {
        seen.push([first, at]);
        return [ALICE];
      },
    },
  });
  const genesis = recording.blocks[0]!.block.hash;
  assert.deepEqual(await getModifiedAccountsByNumber.call(recording, ["0x1"]), [ALICE]);
  await getModifiedAccountsByNumber.call(recording, [0, 1]);
  await getModifiedAccountsByHash.call(recording, [block.hash]);
  await getModifiedAccountsByHash.call(recording, [genesis, block.hash]);
  const inOrder = [1, 1, byHash(block.hash), byHash(block.hash)].map((at) => [0, at]);
  assert.deepEqual(seen, inOrder);
});
