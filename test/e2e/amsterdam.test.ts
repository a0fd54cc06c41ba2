/** A dev chain with the rules of Amsterdam, and a chain of go-ethereum's that comes to them, as their users meet them. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { type Hex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { keccak256Hash } from "../../src/base/primitives/keccak.ts";
import { decodeBlockAccessList } from "../../src/base/types/block-access-list.ts";
import { createNode } from "../../src/index.ts";
import { METHODS } from "../../src/rpc/methods/methods.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { assemble, deploymentOf } from "../support/assembler.ts";
import { startEvmintd } from "../support/evmintd.ts";
import { fixture, skipWithout } from "../support/fixtures.ts";
import { schemaFaults } from "../support/json-schema.ts";
import { callHttp } from "../support/rpc/rpc-client.ts";
import { ONE_PROCESS, startTestNode, type TestNode } from "../support/test-node.ts";

const [ALICE, BOB] = DEV_ADDRESSES;
const STRANGER = "0x00000000000000000000000000000000000beef1";

async function call(url: string, method: string, ...params: unknown[]): Promise<unknown> {
  const { result, error } = await callHttp(url, method, params);
  if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code });
  return result;
}

type Block = {
  readonly number: string;
  readonly hash: string;
  readonly gasUsed: string;
  readonly slotNumber: string;
  readonly blockAccessListHash: string;
};
type Access = { readonly address: string; readonly balanceChanges: readonly { index: string; value: string }[] };

describe("a dev chain with the rules of Amsterdam", () => {
  let node: TestNode;
  const ask = async <T>(method: string, ...params: unknown[]) => (await call(node.url, method, ...params)) as T;
  before(async () => {
    node = await startTestNode({ dev: true, settings: { hardfork: "amsterdam", ...ONE_PROCESS } });
  });
  after(() => node.stop());

  const blockAt = (tag: string) => ask<Block>("eth_getBlockByNumber", tag, false);

  async function mined(transaction: object) {
    const hash = await ask<string>("eth_sendTransaction", { from: ALICE, ...transaction });
    return ask<{ contractAddress: string; gasUsed: string; blockNumber: string }>("eth_getTransactionReceipt", hash);
  }

  test("counts slots with its blocks and on from a slot that is set; pending blocks and calls see the next one", async () => {
    const { contractAddress: to } = await mined({
      data: deploymentOf(assemble("SLOTNUM PUSH0 MSTORE PUSH1 20 PUSH0 RETURN")),
    });
    const slotIn = async (tag: string) => Number(await ask("eth_call", { to }, tag));
    const head = await blockAt("latest");
    assert.equal((await blockAt("0x0")).slotNumber, "0x0");
    assert.equal(head.slotNumber, head.number);
    const next = Number(head.number) + 1;
    assert.equal(Number((await blockAt("pending")).slotNumber), next);
    assert.equal(await slotIn("latest"), Number(head.number));
    assert.equal(await slotIn("pending"), next);

    assert.equal(await ask("evmint_setNextSlotNumber", "0x1000"), null);
    assert.equal((await blockAt("pending")).slotNumber, "0x1000");
    await ask("evm_mine");
    await ask("evm_mine");
    assert.equal((await blockAt(`0x${next.toString(16)}`)).slotNumber, "0x1000");
    assert.equal(await slotIn("latest"), 0x1001);
    for (const slot of ["0x1001", 3, "0x8000000000000000"]) {
      await assert.rejects(ask("evmint_setNextSlotNumber", slot), { code: -32000 });
    }
  });

  test("testing_buildBlockV1 takes a slot, and gives the slot and the access list of the block that it builds", async () => {
    const { hash, timestamp } = await ask<{ hash: string; timestamp: string }>("eth_getBlockByNumber", "latest", false);
    const attributes = { timestamp: `0x${(Number(timestamp) + 5).toString(16)}`, slotNumber: "0x123456" };
    type Built = { executionPayload: { slotNumber: string; blockAccessList: Hex; blockHash: string } };
    const { executionPayload } = await ask<Built>("testing_buildBlockV1", hash, attributes, [], "0x");
    assert.equal(executionPayload.slotNumber, "0x123456");
    assert.equal(await ask("testing_commitBlockV1", attributes, [], "0x"), executionPayload.blockHash);
    assert.equal(await ask("debug_getRawBlockAccessList", "latest"), executionPayload.blockAccessList);
  });

  test("serves the access list of a block as JSON and as the RLP whose hash is in the header", async () => {
    const { blockNumber } = await mined({ to: STRANGER, value: "0x7" });
    const block = await blockAt(blockNumber);
    const raw = await ask<Hex>("debug_getRawBlockAccessList", blockNumber);
    assert.equal(keccak256Hash(hexToBytes(raw)), block.blockAccessListHash);
    const list = await ask<readonly Access[]>("eth_getBlockAccessList", blockNumber);
    assert.deepEqual(
      list.map(({ address }) => address),
      decodeBlockAccessList(hexToBytes(raw)).map(({ address }) => address),
    );
    const stranger = list.find(({ address }) => address === STRANGER);
    assert.deepEqual(stranger, {
      address: STRANGER,
      storageChanges: [],
      storageReads: [],
      balanceChanges: [{ index: "0x1", value: "0x7" }],
      nonceChanges: [],
      codeChanges: [],
    });
    for (const selector of [block.hash, { blockHash: block.hash }, "latest"]) {
      assert.deepEqual(await ask("eth_getBlockAccessList", selector), list);
    }
    assert.deepEqual(await ask("eth_getBlockAccessList", "0x0"), []);
    assert.equal(await ask("eth_getBlockAccessList", "pending"), null);
    for (const unknown of ["0xffffff", `0x${"07".repeat(32)}`]) {
      assert.equal(await ask("eth_getBlockAccessList", unknown), null);
      await assert.rejects(ask("debug_getRawBlockAccessList", unknown), { code: -32001 });
    }
  });

  test("lists what accounts and slots of a block became, and a revert forgets the list with its block", async () => {
    const id = await ask("evm_snapshot");
    const schema = METHODS.find(({ name }) => name === "eth_getBlockAccessList")!.resultSchema;
    const { contractAddress, blockNumber } = await mined({
      data: deploymentOf(assemble("PUSH1 2a PUSH1 03 SSTORE STOP")),
    });
    const created = (await ask<readonly Access[]>("eth_getBlockAccessList", blockNumber)).find(
      ({ address }) => address === contractAddress,
    );
    assert.deepEqual(created, {
      address: contractAddress,
      storageChanges: [],
      storageReads: [],
      balanceChanges: [],
      nonceChanges: [{ index: "0x1", value: "0x1" }],
      codeChanges: [{ index: "0x1", code: assemble("PUSH1 2a PUSH1 03 SSTORE STOP") }],
    });
    const { blockNumber: second } = await mined({ to: contractAddress, gas: "0x30000", from: BOB });
    const written = (
      await ask<readonly (Access & { storageChanges: unknown })[]>("eth_getBlockAccessList", second)
    ).find(({ address }) => address === contractAddress);
    const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;
    assert.deepEqual(written?.storageChanges, [{ key: word(3), changes: [{ index: "0x1", value: word(42) }] }]);
    for (const number of [blockNumber, second]) {
      assert.deepEqual(schemaFaults(await ask("eth_getBlockAccessList", number), schema), []);
    }
    await ask("evm_revert", id);
    assert.equal(await ask("eth_getBlockAccessList", second), null);
  });
});

test("anvil_dumpState has the fields of Amsterdam's headers, and another node goes on from them", async () => {
  const settings = { hardfork: "amsterdam" };
  await using first = await createNode({ settings });
  await first.setNextSlotNumber(500);
  await first.rpc.anvil_mine("0x2");
  const head = await first.rpc.eth_getBlockByNumber("latest", true);
  assert.equal(head?.slotNumber, "0x1f5");
  await using second = await createNode({ settings });
  await second.rpc.anvil_loadState((await first.rpc.anvil_dumpState()) as Hex);
  assert.deepEqual(await second.rpc.eth_getBlockByNumber("latest", true), head);
  // A state file has no access lists.
  await assert.rejects(second.rpc.eth_getBlockAccessList("latest"), { code: 4444 });
  await second.rpc.anvil_mine("0x1");
  assert.equal((await second.rpc.eth_getBlockByNumber("latest", true))?.slotNumber, "0x1f6");
  assert.ok((await second.rpc.eth_getBlockAccessList("latest"))!.length > 5);
});

/** In a process of its own: a fork's reads of its state block the thread. */
async function startRemote(t: TestContext, flags: readonly string[]): Promise<{ readonly url: string }> {
  const home = mkdtempSync(join(tmpdir(), "evmint-remote-"));
  const { url, child, exited } = await startEvmintd(home, ["--dev", ...flags]);
  t.after(async () => {
    child.kill("SIGKILL");
    await exited;
    rmSync(home, { recursive: true, force: true });
  });
  return { url };
}

type Configuration = { readonly blobSchedule: Readonly<Record<string, number>>; readonly precompiles: object };

test("a fork of a chain with Amsterdam is verified and goes on with its rules and slots; one of an older chain may begin them", async (t) => {
  const remote = await startRemote(t, ["--hardfork", "amsterdam"]);
  await call(remote.url, "evmint_setNextSlotNumber", "0x1000");
  await call(remote.url, "evm_mine");
  const settings = { "dev.fork-url": remote.url, "fork-verify": "on", ...ONE_PROCESS };
  const fork = await startTestNode({ dev: true, settings });
  const transfer = { from: ALICE, to: STRANGER, value: "0x1" };
  assert.equal(await call(fork.url, "eth_estimateGas", transfer), await call(remote.url, "eth_estimateGas", transfer));
  const hash = await call(fork.url, "eth_sendTransaction", transfer);
  const { gasUsed, logs } = (await call(fork.url, "eth_getTransactionReceipt", hash)) as {
    gasUsed: string;
    logs: unknown[];
  };
  assert.deepEqual([Number(gasUsed), logs.length], [204_600, 1]);
  const head = (await call(fork.url, "eth_getBlockByNumber", "latest", false)) as Block;
  assert.deepEqual([head.number, head.slotNumber], ["0x2", "0x1001"]);
  // What is dearer in the other dimension counts.
  assert.equal(Number(head.gasUsed), 183_600);
  const listed = (await call(fork.url, "eth_getBlockAccessList", "latest")) as readonly Access[];
  assert.ok(listed.some(({ address }) => address === STRANGER));
  assert.deepEqual(
    await call(fork.url, "eth_getBlockAccessList", "0x1"),
    await call(remote.url, "eth_getBlockAccessList", "0x1"),
  );
  const { current } = (await call(fork.url, "eth_config")) as { current: { systemContracts: Record<string, string> } };
  assert.equal(current.systemContracts["BUILDER_EXIT_CONTRACT_ADDRESS"], "0x000064d678505ad48f8ccb093bc65613800e8282");
  await fork.stop();

  const older = await startRemote(t, ["--hardfork", "bpo2"]);
  const same = await startTestNode({ dev: true, settings: { "dev.fork-url": older.url, ...ONE_PROCESS } });
  // Names and blob parameters of eth_config: a header of bpo2 is that of Osaka.
  const configOf = async (url: string) => (await call(url, "eth_config")) as { current: Configuration };
  const [theirs, ours] = [(await configOf(older.url)).current, (await configOf(same.url)).current];
  assert.deepEqual([ours.blobSchedule, ours.precompiles], [theirs.blobSchedule, theirs.precompiles]);
  assert.equal(ours.blobSchedule["max"], 21);
  await same.stop();
  const later = await startTestNode({
    dev: true,
    settings: { "dev.fork-url": older.url, hardfork: "amsterdam", ...ONE_PROCESS },
  });
  t.after(() => later.stop());
  await call(later.url, "evm_mine");
  const first = (await call(later.url, "eth_getBlockByNumber", "latest", false)) as Block;
  assert.equal(first.slotNumber, first.number);
});

test("a dev chain with older rules has no slots and no access lists", async (t) => {
  const node = await startTestNode({ dev: true });
  t.after(() => node.stop());
  await assert.rejects(call(node.url, "evmint_setNextSlotNumber", "0x10"), { code: -32000 });
  await assert.rejects(call(node.url, "eth_getBlockAccessList", "latest"), { code: -32001 });
  await assert.rejects(call(node.url, "debug_getRawBlockAccessList", "0x0"), { code: -32001 });
  assert.ok(!("slotNumber" in ((await call(node.url, "eth_getBlockByNumber", "latest", false)) as object)));
});

const files = fixture("amsterdam-chain");
const HEAD = "0x9d78f73579811aa17b112188ce020cda4362b0d57a4a339a0c3911c4ace7220c";

test("go-ethereum's chain of 600 blocks is imported to its head, and its access lists are there after a restart", {
  skip: skipWithout(files, "amsterdam-chain"),
}, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "evmint-amsterdam-"));
  const genesis = join(directory, "genesis.json");
  const chainFile = join(directory, "chain.rlp");
  writeFileSync(genesis, gunzipSync(readFileSync(join(files!, "genesis.json.gz"))));
  writeFileSync(chainFile, gunzipSync(readFileSync(join(files!, "chain.rlp.gz"))));
  const home = join(directory, "home");
  const first = await startTestNode({ genesis, chainFile, home });
  await first.stop();
  const node = await startTestNode({ home });
  t.after(async () => {
    await node.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const ask = async <T>(method: string, ...params: unknown[]) => (await call(node.url, method, ...params)) as T;
  assert.equal((await ask<Block>("eth_getBlockByNumber", "0x258", false)).hash, HEAD);
  for (const number of [36, 37, 300, 599, 600]) {
    const at = `0x${number.toString(16)}`;
    const { blockAccessListHash, slotNumber } = await ask<Block>("eth_getBlockByNumber", at, false);
    const raw = await ask<Hex>("debug_getRawBlockAccessList", at);
    assert.equal(keccak256Hash(hexToBytes(raw)), blockAccessListHash, at);
    assert.equal(Number(slotNumber), number - 36);
  }
  await assert.rejects(ask("eth_getBlockAccessList", "0x23"), { code: -32001 });
});
