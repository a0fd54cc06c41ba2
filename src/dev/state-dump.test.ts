import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { CountedSlices } from "../../test/support/base/threads/counted-slices.ts";
import { testAccount, testKey } from "../../test/support/consensus/mempool/pool-fixture.ts";
import { parseGenesis } from "../base/params/genesis.ts";
import type { Address } from "../base/primitives/address.ts";
import { hashFromBigint, ZERO_HASH } from "../base/primitives/hash.ts";
import { allAtOnce } from "../base/threads/in-slices.ts";
import { signTransaction } from "../base/types/transaction/sign.ts";
import { genesisBlock } from "../chain/genesis-block.ts";
import { changesInSteps, changesOfEdits } from "./dev-state.ts";
import { blockTexts } from "./dumped-blocks.ts";
import { dumpChain, dumpInSteps, unpackDump } from "./state-dump.ts";

const ADDRESS = `0x${"11".repeat(20)}`;
const text = (account: unknown) => JSON.stringify({ accounts: { [ADDRESS]: account } });

const unpack = (bytes: Uint8Array, bytesMax?: number) => unpackDump(bytes, new CountedSlices(), bytesMax);

const FAULT = { code: "DEV_CONTROL" };

test("unpackDump reads a dump, packed or plain", async () => {
  const json = text({ nonce: 3, balance: "0x5", code: "0x00", storage: { "0x1": "0x2" } });
  const slot = `0x${"1".padStart(64, "0")}`;
  const expected = { address: ADDRESS, nonce: 3n, balance: 5n, code: Uint8Array.of(0) };
  for (const bytes of [Buffer.from(json), gzipSync(json)]) {
    assert.deepEqual(await unpack(bytes), {
      edits: [{ ...expected, storage: new Map([[slot, 2n]]) }],
      blocks: [],
    });
  }
});

test("unpackDump stops at a dump that is larger than its limit once it is unpacked", async () => {
  const json = text({ balance: "0x5" });
  const bomb = gzipSync(Buffer.alloc(65 << 20, " "));
  assert.ok(bomb.length < 100_000);
  await assert.rejects(unpack(bomb), FAULT);
  for (const bytes of [Buffer.from(json), gzipSync(json)]) {
    assert.equal((await unpack(bytes, json.length + 100)).edits.length, 1);
    await assert.rejects(unpack(bytes, json.length - 1), FAULT);
  }
});

test("unpackDump refuses numbers that no account and no slot can have", async () => {
  const word = `0x1${"0".repeat(64)}`;
  for (const account of [
    { balance: word },
    { balance: "-1" },
    { nonce: -1 },
    { nonce: 1.5 },
    { nonce: 2 ** 64 },
    { storage: { [word]: "0x1" } },
    { storage: { "0x1": word } },
    { storage: { "-1": "0x1" } },
    { code: "0x0" },
    { code: 1 },
    { balance: "" },
    { balance: "9".repeat(2_000_000) },
    { balance: [1] },
    { balance: true },
    { balance: null },
    { nonce: "" },
    { nonce: [1] },
    { nonce: 1e308 },
    { code: ["0x00"] },
    { code: null },
    { storage: [1] },
    { storage: null },
    { storage: "text" },
    { storage: { "": "0x1" } },
    { storage: { "0x1": ["0x1"] } },
    { storage: { "0x1": null } },
    null,
    5,
    "text",
    [],
    [1],
  ]) {
    await assert.rejects(unpack(Buffer.from(text(account))), FAULT, JSON.stringify(account));
  }
});

test("unpackDump names the place of what is wrong, and refuses a list in place of an object", async () => {
  const places: readonly (readonly [unknown, RegExp])[] = [
    [{ accounts: { [ADDRESS]: { storage: { "0x1": "x" } } } }, /^accounts\.0x1{40}\.storage\.0x1 /],
    [{ accounts: { [ADDRESS]: [1] } }, /^accounts\.0x1{40} /],
    [{ accounts: { [ADDRESS]: { balance: "x" } } }, /^accounts\.0x1{40}\.balance /],
    [{ accounts: { nobody: {} } }, /^accounts\.nobody /],
    [{ accounts: [{}] }, /^accounts /],
    [{ accounts: null }, /^accounts /],
    [{}, /^accounts /],
    [[1], /^the value /],
    [null, /^the value /],
  ];
  for (const [dump, place] of places) {
    await assert.rejects(unpack(Buffer.from(JSON.stringify(dump))), (error: Error) => place.test(error.message));
  }
});

const GENESIS = JSON.stringify({ config: { chainId: 1 }, alloc: {}, gasLimit: "0x1", difficulty: "0x0" });

/** A chain of one block whose accounts have `slots` slots each. */
function chainOf(slots: number, hashOf: () => string = () => ZERO_HASH) {
  const entries = Array.from({ length: slots }, (_, i) => [hashFromBigint(BigInt(i)), 1n] as const);
  const state = {
    account: () => ({ nonce: 1n, balance: 2n }),
    code: () => new Uint8Array(10),
    storageEntries: () => entries,
  };
  const { block } = genesisBlock(parseGenesis(GENESIS));
  const executed = { block: { ...block, hash: ZERO_HASH }, senders: [], receipts: [] };
  const blocks = { head: () => executed, block: () => executed, oldest: () => ({ block: 0 }), blockHash: hashOf };
  return { ...blocks, config: parseGenesis(GENESIS).config, stateAt: () => state } as never;
}

const ADDRESSES = Array.from({ length: 40 }, (_, i) => `0x${i.toString(16).padStart(40, "0")}` as Address);

test("dumpChain pauses by the slots that it read, and ends where its block is rolled back meanwhile", async () => {
  for (const [slots, least, most] of [
    [1_000, 39, 40],
    [0, 1, 3],
  ] as const) {
    const slices = new CountedSlices();
    const dump = await dumpChain(ADDRESSES, chainOf(slots), slices);
    assert.equal(dump.accounts.length, 40);
    assert.ok(slices.turns >= least && slices.turns <= most, `${slices.turns} turns`);
  }
  const rolledBack = chainOf(1_000, () => hashFromBigint(9n));
  await assert.rejects(dumpChain(ADDRESSES, rolledBack, new CountedSlices()), FAULT);
});

test("a dump is written and read in steps, and is what was dumped", async () => {
  const dump = await dumpChain(ADDRESSES, chainOf(1_000), new CountedSlices());
  const steps = dumpInSteps(dump);
  let count = 1;
  while (!steps.next().done) count++;
  assert.ok(count >= 20, `${count} steps`);
  const bytes = allAtOnce(dumpInSteps(dump));
  const { accounts, best_block_number: head } = JSON.parse(bytes.toString());
  assert.deepEqual([accounts, head], [JSON.parse(`{${dump.accounts}}`), 0]);
  const slices = new CountedSlices();
  const { edits, blocks } = await unpackDump(bytes, slices);
  assert.deepEqual([edits.length, blocks.length], [40, 1]);
  assert.equal(edits[39]!.storage!.size, 1_000);
  assert.ok(slices.turns >= 40 * 3, `${slices.turns} turns`);
});

test("the transactions of a dumped block are read in steps, one for each signer that is recovered", async () => {
  const { block } = genesisBlock(parseGenesis(GENESIS));
  const fields = {
    chainId: 1n,
    type: 0,
    to: ADDRESS as Address,
    gasLimit: 21_000n,
    gasPrice: 1n,
    value: 0n,
    data: new Uint8Array(0),
  } as const;
  const transactions = Array.from({ length: 40 }, (_, i) =>
    signTransaction({ ...fields, nonce: BigInt(i) }, testKey(0)),
  );
  const receipts = transactions.map((_, i) => ({
    type: 0 as const,
    status: 1 as const,
    cumulativeGasUsed: 21_000n * BigInt(i + 1),
    gasUsed: 21_000n,
    effectiveGasPrice: 1n,
    logsBloom: new Uint8Array(256),
    logs: [],
  }));
  const senders = transactions.map(() => testAccount(0));
  const texts = blockTexts({ block: { ...block, transactions }, senders, receipts } as never);
  const dump = {
    accounts: [],
    bestBlockNumber: 0,
    environment: "{}",
    blocks: [texts.block],
    transactions: texts.transactions,
  };
  const slices = new CountedSlices();
  const { blocks } = await unpackDump(allAtOnce(dumpInSteps(dump)), slices);
  assert.deepEqual(blocks[0]!.senders, senders);
  assert.ok(slices.turns >= 40, `${slices.turns} turns`);
});

test("changesInSteps takes a step for each account, and for some slots", () => {
  const storage = new Map(Array.from({ length: 1_000 }, (_, i) => [hashFromBigint(BigInt(i)), 1n]));
  const edits = ADDRESSES.map((address) => ({ address, balance: 1n, storage }));
  const base = { account: () => undefined, storage: () => 0n, code: () => new Uint8Array(0), storageEntries: () => [] };
  const steps = changesInSteps(edits, base);
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count++;
  assert.ok(count >= 40 + (40 * 1_000) / 256 - 1, `${count} steps`);
  assert.deepEqual(step.value, changesOfEdits(edits, base));
});
