import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compressPublicKey } from "../../src/base/crypto/compressed-public-key.ts";
import { publicKeyFromPrivate } from "../../src/base/crypto/secp256k1.ts";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

const [SENDER, STRANGER, OTHER] = DEV_ADDRESSES.map((address) => address.toLowerCase()) as [string, string, string];

type Snapshot = {
  readonly number: number;
  readonly hash: string;
  readonly signers: Readonly<Record<string, object>>;
  readonly recents: Readonly<Record<string, string>>;
  readonly votes: readonly object[];
  readonly tally: Readonly<Record<string, object>>;
};
type Block = { readonly number: string; readonly hash: string; readonly stateRoot: string };

const home = mkdtempSync(join(tmpdir(), "evmint-clique-"));
let running: TestNode;

function request<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T> {
  return running.node.provider.request({ method, params }) as Promise<T>;
}

const head = () => request<Block>("eth_getBlockByNumber", "latest", false);

before(async () => {
  running = await startTestNode({
    dev: true,
    home,
    settings: { "consensus.block-time": "manual" },
  });
});

after(async () => {
  await running.stop();
  rmSync(home, { recursive: true });
});

test("clique: the one validator is the signer; votes are cast, counted, stored and exported", async () => {
  const [validator] = await request<string[]>("clique_getSigners");
  assert.deepEqual(await request("clique_getSnapshot", "0x0"), {
    number: 0,
    hash: (await head()).hash,
    signers: { [validator!]: {} },
    activeFrom: {},
    recents: {},
    votes: [],
    tally: {},
  });
  assert.deepEqual(await request("clique_status"), {
    inturnPercent: 0,
    numBlocks: 0,
    sealerActivity: { [validator!]: 0 },
    jailed: {},
  });

  // The key of an account that has signed nothing is unknown, and has to be its own.
  await assert.rejects(request("clique_propose", STRANGER, true), { code: -32000 });
  const keyOf = (index: number) => bytesToHex(publicKeyFromPrivate(hexToBytes(DEV_KEYS[index]!)));
  await assert.rejects(request("clique_propose", STRANGER, true, keyOf(2)), { code: -32000 });
  await assert.rejects(request("clique_propose", STRANGER, true, "0x02"), { code: -32000 });
  assert.equal(await request("clique_propose", STRANGER, true, keyOf(1)), null);
  assert.deepEqual(await request("clique_proposals"), { [STRANGER]: true });

  running.produceBlock();
  const expected = [validator!, STRANGER].sort();
  assert.deepEqual(await request("clique_getSigners", "latest"), expected);
  assert.deepEqual(await request("clique_getSigners", "0x0"), [validator]);
  const { hash } = await head();
  assert.deepEqual(await request("clique_getSignersAtHash", hash), expected);

  // A transaction shows the key of its sender.
  const transfer = { from: OTHER, to: SENDER, value: "0x1" };
  await request("eth_sendTransaction", transfer);
  running.produceBlock();
  assert.equal(await request("clique_propose", OTHER, true), null);
  running.produceBlock();
  const snapshot = await request<Snapshot>("clique_getSnapshot");
  const publicKey = bytesToHex(compressPublicKey(publicKeyFromPrivate(hexToBytes(DEV_KEYS[2]))));
  const vote = { signer: validator, block: 3, address: OTHER, authorize: true, publicKey };
  assert.deepEqual(snapshot.votes, [vote]);
  assert.deepEqual(snapshot.tally, { [OTHER]: { authorize: true, votes: 1 } });
  assert.deepEqual(snapshot.recents, { 2: validator, 3: validator });
  assert.equal((await request<Snapshot>("clique_getSnapshotAtHash", snapshot.hash)).number, 3);

  for (const block of ["latest", "0x3", snapshot.hash]) {
    assert.equal(await request("clique_getSigner", block), validator);
  }
  for (const method of ["debug_getRawHeader", "debug_getRawBlock"]) {
    assert.equal(await request("clique_getSigner", await request(method, "latest")), validator);
  }
  assert.deepEqual(await request("clique_status"), {
    inturnPercent: 100,
    numBlocks: 2,
    sealerActivity: { [validator!]: 2, [STRANGER]: 0 },
    jailed: {},
  });
});

test("clique: blocks that are unknown or pruned, and bytes that are none, are errors", async () => {
  const unknown = `0x${"11".repeat(32)}`;
  await assert.rejects(request("clique_getSnapshot", "0x99"), { code: -32000 });
  await assert.rejects(request("clique_getSignersAtHash", unknown), { code: -32000 });
  await assert.rejects(request("clique_getSigner", unknown), { code: -32000 });
  await assert.rejects(request("clique_getSigner", `0x${"ff".repeat(40)}`), { code: -32000 });
  await assert.rejects(request("clique_getSigner", `0xb7${"11".repeat(60)}`), { code: -32000 });
});

test("clique: no validators sign the blocks of one process", async () => {
  await assert.rejects(request("clique_getLightBlock"), { code: -32004 });
  await assert.rejects(request("clique_getLightBlock", "0x99"), { code: -32000 });
});

test("clique: proposals survive a restart and end when discarded", async () => {
  await running.stop();
  running = await startTestNode({
    dev: true,
    home,
    settings: { "consensus.block-time": "manual" },
  });
  assert.deepEqual(await request("clique_proposals"), { [STRANGER]: true, [OTHER]: true });
  assert.equal(await request("clique_discard", STRANGER), null);
  assert.equal(await request("clique_discard", STRANGER), null);
  assert.deepEqual(await request("clique_proposals"), { [OTHER]: true });
  assert.equal((await request<string[]>("clique_getSigners")).length, 2);
});

test("clique: an exported chain with votes is imported with the same states", async () => {
  await request("admin_exportChain", "votes.rlp.gz");
  const newest = await head();
  const { timestamp } = running.node.core.chain.header(0)!;
  const settings = { "consensus.block-time": "manual", timestamp: String(timestamp) };
  const copy = await startTestNode({ dev: true, settings });
  try {
    const there = (method: string, ...params: readonly unknown[]) => copy.node.provider.request({ method, params });
    mkdirSync(join(copy.home, "debug"), { recursive: true });
    copyFileSync(join(home, "debug/votes.rlp.gz"), join(copy.home, "debug/votes.rlp.gz"));
    await there("admin_importChain", "votes.rlp.gz");
    assert.deepEqual(await there("eth_getBlockByNumber", "latest", false), newest);
    assert.deepEqual(await there("clique_getSnapshot"), await request("clique_getSnapshot"));
  } finally {
    await copy.stop();
  }
});

test("clique: rules are proposed, decided in the next block, followed and discarded", async () => {
  type Parameters = { readonly agreed: object; readonly proposals: object; readonly votes: readonly object[] };
  const parameters = () => request<Parameters>("clique_parameters", "latest");
  assert.deepEqual((await parameters()).agreed, {});
  for (const [method, ...params] of [
    ["clique_proposeParameter", "gasLimit", 1],
    ["clique_proposeParameter", "gas", 1_000_000],
    ["clique_proposeFork", "osaka", 4_102_444_800],
    ["clique_proposeFork", "amsterdam", 4_102_444_800],
    ["clique_proposeFork", "bpo1", 1],
  ] as const) {
    await assert.rejects(request(method, ...params), { code: -32000 });
  }
  await request("clique_proposeParameter", "gasLimit", 60_000_000);
  await request("clique_proposeFork", "bpo1", 4_102_444_800);
  assert.deepEqual((await parameters()).proposals, { bpo1Time: 4_102_444_800, gasLimit: 60_000_000 });
  running.produceBlock();
  const { votes } = await parameters();
  assert.deepEqual(
    votes.map((vote) => ({ ...vote, signer: "", block: 0 })),
    [{ signer: "", block: 0, name: "bpo1Time", value: 4_102_444_800 }],
  );
  await request("clique_discardParameter", "bpo1Time");
  await request("clique_discardParameter", "gasLimit");
  assert.deepEqual((await parameters()).proposals, {});
});
