import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parseAddress } from "../../src/base/primitives/address.ts";
import { type Hash, ZERO_HASH } from "../../src/base/primitives/hash.ts";
import { bytesToHex, type Hex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { decodeBlock, encodeBlock } from "../../src/base/types/block-codec.ts";
import { encodeHeader, headerHash } from "../../src/base/types/header-codec.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

const SENDER = parseAddress(DEV_ADDRESSES[0]);
const RECEIVER = parseAddress(DEV_ADDRESSES[1]);
const REJECTED = { code: -32000 };
/** Init code that emits a log without topics and stores 1 in slot 1; the contract has no code. */
const INIT = "0x60006000a06001600155";

type BadBlock = { readonly hash: Hash; readonly rlp: string; readonly block: { number: string } };
type Trace = { readonly txHash: Hash; readonly result: { readonly gas: number } };

let running: TestNode;

function request<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T> {
  return running.node.provider.request({ method, params }) as Promise<T>;
}

async function send(transaction: object): Promise<{ blockNumber: string; blockHash: Hash }> {
  const hash = await request("eth_sendTransaction", {
    from: SENDER,
    gas: "0x30d40",
    ...transaction,
  });
  return request("eth_getTransactionReceipt", hash);
}

function debugFile(name: string): string {
  mkdirSync(join(running.home, "debug"), { recursive: true });
  return join(running.home, "debug", name);
}

/** The head with another gas used, offered to the node again after the head was removed. */
async function importBadBlock(): Promise<{ readonly hash: Hash; readonly rlp: Uint8Array }> {
  const raw = await request<Hex>("debug_getRawBlock", "latest");
  const good = decodeBlock(hexToBytes(raw));
  const header = { ...good.header, gasUsed: good.header.gasUsed + 1n };
  const bad = { ...good, header, hash: headerHash(header) };
  await request("debug_setHead", `0x${(good.header.number - 1).toString(16)}`);
  const rlp = encodeBlock(bad);
  writeFileSync(debugFile(`bad-${bad.hash}.rlp`), rlp);
  await assert.rejects(request("admin_importChain", `bad-${bad.hash}.rlp`), REJECTED);
  writeFileSync(debugFile(`good-${good.hash}.rlp`), hexToBytes(raw));
  await request("admin_importChain", `good-${good.hash}.rlp`);
  return { hash: bad.hash, rlp };
}

before(async () => {
  running = await startTestNode({ dev: true });
  await send({ data: INIT });
  await send({ to: RECEIVER, value: "0x1" });
});
after(() => running.stop());

test("debug_setHead removes the blocks after it, and tells filters, subscribers and pool", async () => {
  const logs = await request("eth_newFilter", {});
  const messages: { data: { result: { removed: boolean; blockHash: Hash } } }[] = [];
  const onMessage = (message: (typeof messages)[number]) => messages.push(message);
  running.node.provider.on("message", onMessage);
  await request("eth_subscribe", "logs", {});
  const before = await request<string>("eth_blockNumber");
  const nonce = await request<string>("eth_getTransactionCount", SENDER, "pending");
  const { blockHash } = await send({ data: INIT });
  await send({ to: RECEIVER, value: "0x1" });
  assert.equal((await request<unknown[]>("eth_getFilterChanges", logs)).length, 1);
  assert.equal(await request("debug_setHead", before), null);
  assert.equal(await request("eth_blockNumber"), before);
  assert.equal(await request("eth_getBlockByHash", blockHash, false), null);
  assert.equal(await request("eth_getTransactionCount", SENDER, "pending"), nonce);
  assert.deepEqual(await request("txpool_status"), { pending: "0x0", queued: "0x0" });
  const changes = await request<{ removed: boolean; blockHash: Hash }[]>("eth_getFilterChanges", logs);
  assert.deepEqual(
    changes.map(({ removed, ...log }) => [removed, log.blockHash]),
    [[true, blockHash]],
  );
  // The chain goes on, and its store is whole.
  await send({ to: RECEIVER, value: "0x2" });
  assert.ok(messages.some(({ data }) => data.result.removed && data.result.blockHash === blockHash));
  running.node.provider.off("message", onMessage);
  assert.deepEqual(running.node.core.store.check().faults, []);
});

test("debug_setHead rejects the head, what is after it, and what is no number", async () => {
  const head = await request<string>("eth_blockNumber");
  const future = { code: -32000, message: "not allowed to rewind to a future block" };
  await assert.rejects(request("debug_setHead", head), future);
  await assert.rejects(request("debug_setHead", "0xffffff"), future);
  for (const wrong of ["latest", -1, null, {}]) {
    await assert.rejects(request("debug_setHead", wrong), { code: -32602 });
  }
  assert.equal(await request("eth_blockNumber"), head);
});

test("debug_setHead over more blocks than are removed at a time leaves a store that passes the check", async () => {
  const head = Number(await request<string>("eth_blockNumber"));
  for (let i = 0; i < 150; i++) running.produceBlock();
  await request("debug_setHead", head);
  assert.equal(Number(await request<string>("eth_blockNumber")), head);
  running.produceBlock();
  assert.deepEqual(running.node.core.store.check().faults, []);
});

test("a rejected import is a bad block: it is listed and can be traced", async () => {
  assert.deepEqual(await request("debug_getBadBlocks"), []);
  await send({ data: INIT });
  const { hash, rlp } = await importBadBlock();
  const [bad, ...others] = await request<BadBlock[]>("debug_getBadBlocks");
  assert.deepEqual(others, []);
  assert.equal(bad?.hash, hash);
  assert.equal(bad?.rlp, bytesToHex(rlp));
  const good = await request<{ hash: Hash; number: string }>("eth_getBlockByNumber", "latest", false);
  assert.equal(bad?.block.number, good.number);
  const traces = await request<Trace[]>("debug_traceBadBlock", hash);
  assert.deepEqual(traces, await request<Trace[]>("debug_traceBlockByNumber", "latest"));
  assert.deepEqual(await request("debug_intermediateRoots", hash), await request("debug_intermediateRoots", good.hash));
  const files = await request<string[]>("debug_standardTraceBadBlockToFile", hash);
  assert.equal(files.length, 1);
});

test("debug_traceBadBlock and debug_standardTraceBadBlockToFile reject other blocks", async () => {
  const { hash } = await request<{ hash: Hash }>("eth_getBlockByNumber", "latest", false);
  for (const method of ["debug_traceBadBlock", "debug_standardTraceBadBlockToFile"]) {
    for (const wrong of [hash, ZERO_HASH]) {
      await assert.rejects(request(method, wrong), {
        code: -32000,
        message: `bad block ${wrong} not found`,
      });
    }
    await assert.rejects(request(method, "0x1"), { code: -32602 });
  }
});

test("debug_traceBlockFromFile traces the RLP of a file", async () => {
  const raw = await request<Hex>("debug_getRawBlock", "latest");
  writeFileSync(debugFile("block.rlp"), hexToBytes(raw));
  const config = { tracer: "callTracer" };
  assert.deepEqual(
    await request("debug_traceBlockFromFile", "block.rlp", config),
    await request("debug_traceBlock", raw, config),
  );
  writeFileSync(debugFile("no-block.rlp"), "no block");
  const tooLong = "x".repeat(300);
  for (const wrong of ["no-block.rlp", "missing.rlp", "../config/app.toml", "/etc/passwd", tooLong, "block.rlp/x"]) {
    await assert.rejects(request("debug_traceBlockFromFile", wrong), REJECTED);
  }
  for (const wrong of [tooLong, "block.rlp/x"]) {
    await assert.rejects(request("debug_writeBlockProfile", wrong), REJECTED);
  }
});

test("block 0 of a dev chain has no traces", async () => {
  const genesis = await request<{ hash: Hash }>("eth_getBlockByNumber", "0x0", false);
  assert.deepEqual(await request("debug_traceBlockByNumber", "0x0"), []);
  assert.deepEqual(await request("debug_traceBlockByNumber", "earliest", { tracer: "callTracer" }), []);
  assert.deepEqual(await request("debug_traceBlockByHash", genesis.hash), []);
});

test("debug_intermediateRoots ends with the block's state root where nothing follows the transactions", async () => {
  const { blockHash } = await send({ to: RECEIVER, value: "0x1" });
  const roots = await request<Hash[]>("debug_intermediateRoots", blockHash);
  const { stateRoot } = await request<{ stateRoot: Hash }>("eth_getBlockByHash", blockHash, false);
  assert.deepEqual(roots, [stateRoot]);
  await assert.rejects(request("debug_intermediateRoots", ZERO_HASH), REJECTED);
  const genesis = await request<{ hash: Hash }>("eth_getBlockByNumber", "0x0", false);
  assert.deepEqual(await request("debug_intermediateRoots", genesis.hash), []);
});

test("debug_standardTraceBlockToFile writes a line for each step and each end of a frame", async () => {
  const { blockHash } = await send({ data: INIT });
  const { transactions } = await request<{ transactions: Hash[] }>("eth_getBlockByHash", blockHash, false);
  const txHash = transactions[0]!;
  const [path, ...others] = await request<string[]>("debug_standardTraceBlockToFile", blockHash, {
    txHash,
  });
  assert.deepEqual(others, []);
  assert.ok(path!.startsWith(join(running.home, "debug", "traces", `block_${blockHash.slice(0, 10)}-0-`)));
  const lines = readFileSync(path!, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ opName }) => opName),
    ["PUSH1", "PUSH1", "LOG0", "PUSH1", "PUSH1", "SSTORE", "STOP", undefined],
  );
  const { gas, ...first } = lines[0];
  assert.match(gas, /^0x[1-9a-f]/);
  assert.deepEqual(first, {
    pc: 0,
    op: 0x60,
    gasCost: "0x3",
    memSize: 0,
    stack: [],
    depth: 1,
    refund: 0,
    opName: "PUSH1",
  });
  assert.equal(lines.at(-1).output, "");
  await assert.rejects(
    request("debug_standardTraceBlockToFile", blockHash, { txHash: `0x${"11".repeat(32)}` }),
    REJECTED,
  );
  await assert.rejects(request("debug_standardTraceBlockToFile", ZERO_HASH), REJECTED);
});

test("debug_dbGet reads a row of the index, debug_dbAncient a block of the log", async () => {
  const { hash } = await request<{ hash: Hash }>("eth_getBlockByNumber", "0x1", false);
  assert.equal(await request("debug_dbGet", `0x03${hash.slice(2)}`), "0x01");
  for (const wrong of ["0x03", "missing", "", `0x${"00".repeat(600)}`]) {
    await assert.rejects(request("debug_dbGet", wrong), { code: -32000, message: "not found" });
  }
  const raw = decodeBlock(hexToBytes(await request<Hex>("debug_getRawBlock", "0x1")));
  assert.equal(await request("debug_dbAncient", "hashes", 1), hash);
  assert.equal(await request("debug_dbAncient", "headers", 1), bytesToHex(encodeHeader(raw.header)));
  const body = await request<string>("debug_dbAncient", "bodies", "0x1");
  assert.ok(bytesToHex(encodeBlock(raw)).includes(body.slice(6)));
  const head = Number(await request<string>("eth_blockNumber"));
  assert.equal(await request("debug_dbAncients"), head + 1);
  await assert.rejects(request("debug_dbAncient", "constructor", 1), {
    code: -32000,
    message: "unknown table",
  });
  await assert.rejects(request("debug_dbAncient", "hashes", head + 1), {
    code: -32000,
    message: "out of bounds",
  });
  await assert.rejects(request("debug_dbAncient", "hashes", "one"), { code: -32602 });
});

test("debug_chaindbCompact writes what waits, and debug_chaindbProperty describes the store", async () => {
  assert.equal(await request("debug_chaindbCompact"), null);
  assert.equal(running.node.core.store.mergeSome(), false);
  const head = Number(await request<string>("eth_blockNumber"));
  const text = await request<string>("debug_chaindbProperty");
  assert.ok(text.includes(`0 to ${head}`));
  assert.ok(text.includes(String(running.node.core.store.logBytes)));
});

test("debug_getAccessibleState finds the state of every block", async () => {
  assert.equal(await request("debug_getAccessibleState", "0x0", "latest"), 0);
  const head = Number(await request<string>("eth_blockNumber"));
  assert.equal(await request("debug_getAccessibleState", "latest", "0x0"), head);
  await assert.rejects(request("debug_getAccessibleState", "0x1", "0x1"), REJECTED);
  await assert.rejects(request("debug_getAccessibleState", "0xffff", "0x1"), {
    code: -32000,
    message: "missing header 65535",
  });
  await assert.rejects(request("debug_getAccessibleState", "0x1"), { code: -32602 });
});

test("the trie flush interval is undefined, as in geth with its default store", async () => {
  const none = {
    code: -32000,
    message: "trie flush interval is undefined for path-based scheme",
  };
  await assert.rejects(request("debug_getTrieFlushInterval"), none);
  await assert.rejects(request("debug_setTrieFlushInterval", "1h"), none);
  await assert.rejects(request("debug_setTrieFlushInterval", 1), { code: -32602 });
});

test("an import, a rewind and a block on demand exclude one another, and the chain goes on after each", async () => {
  const head = Number(await request<string>("eth_blockNumber"));
  for (let i = 0; i < 80; i++) running.produceBlock();
  const file = `exclusive-${head}.rlp`;
  await request("admin_exportChain", file);
  await request("debug_setHead", `0x${head.toString(16)}`);
  const BUSY = { code: -32005 };

  const { timestamp } = await request<{ timestamp: Hex }>("eth_getBlockByNumber", "latest", false);
  const attributes = {
    timestamp: `0x${(Number(timestamp) + 10_000).toString(16)}`,
    prevRandao: ZERO_HASH,
    suggestedFeeRecipient: SENDER,
    withdrawals: [],
    parentBeaconBlockRoot: ZERO_HASH,
  };
  const importing = request("admin_importChain", file);
  for (const [method, ...params] of [
    ["debug_setHead", "0x1"],
    ["admin_importChain", file],
    ["testing_commitBlockV1", attributes, []],
  ] as const) {
    await assert.rejects(request(method, ...params), BUSY, method);
  }
  await importing;
  assert.equal(Number(await request<string>("eth_blockNumber")), head + 80);

  const rewinding = request("debug_setHead", `0x${head.toString(16)}`);
  await assert.rejects(request("admin_importChain", file), BUSY);
  await rewinding;
  await request("admin_importChain", file);
  assert.equal(Number(await request<string>("eth_blockNumber")), head + 80);
  await send({ to: RECEIVER, value: "0x3" });
  assert.deepEqual(running.node.core.store.check().faults, []);
});
