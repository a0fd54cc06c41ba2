import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { decodeBlockAccessList, encodeBlockAccessList } from "../../base/types/block-access-list.ts";
import { encodeBlock } from "../../base/types/block-codec.ts";
import { createNode } from "../../index.ts";
import { loadConfig } from "../config/load.ts";
import { openChain } from "../roles/chain/open-chain.ts";
import { nodeOperations } from "../roles/operations.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-lists-"));
after(() => rmSync(folder, { recursive: true }));
const home = join(folder, "home");
const config = () => loadConfig({ home, dev: true, flags: {}, environment: {} }).config;

type FilePart = { readonly list: Uint8Array; readonly block: Uint8Array };
let parts: readonly FilePart[];
let headHash: string;

before(async () => {
  const node = await createNode({ home, hardfork: "amsterdam" });
  const [from, to] = node.accounts.map(({ address }) => address);
  for (const value of [1n, 2n, 3n]) await node.rpc.eth_sendTransaction({ from: from!, to: to!, value });
  await node.stop();
  const { chain, store } = openChain(config(), { log: STRICT_LOGGER, timers: fatalTimers });
  const head = chain.head().block;
  headHash = head.hash;
  parts = Array.from({ length: head.header.number }, (_, i) => ({
    list: chain.accessList(i + 1)!,
    block: encodeBlock(chain.block(i + 1)!.block),
  }));
  store.close();
});

/** Imports a file of `changed` into the chain without its blocks. @returns the head then, or the error */
async function imported(changed: readonly FilePart[]) {
  const { chain, store } = openChain(config(), { log: STRICT_LOGGER, timers: fatalTimers });
  chain.rollbackTo(0);
  store.close();
  const file = join(folder, "chain.rlp");
  writeFileSync(file, Buffer.concat(changed.flatMap(({ list, block }) => [list, block])));
  const options = { file, signal: new AbortController().signal, onProgress() {} };
  return nodeOperations.importChain(config(), STRICT_LOGGER, options);
}

test("blocks are imported with the lists that export writes, and without", async () => {
  const exported = join(folder, "exported.rlp");
  const options = { file: exported, first: undefined, last: undefined, hasAccessLists: true };
  const signal = new AbortController().signal;
  await nodeOperations.exportChain(config(), STRICT_LOGGER, { ...options, signal, onProgress() {} });
  assert.equal((await imported(parts)).head, parts.length);
  assert.equal((await imported(parts.map((part) => ({ ...part, list: new Uint8Array() })))).head, parts.length);
  const { chain, store } = openChain(config(), { log: STRICT_LOGGER, timers: fatalTimers });
  assert.equal(chain.head().block.hash, headHash);
  chain.rollbackTo(0);
  store.close();
  const result = await nodeOperations.importChain(config(), STRICT_LOGGER, { file: exported, signal, onProgress() {} });
  assert.equal(result.head, parts.length);
});

/** The import of a block that does not agree with its list fails by the block; the text says where the list is wrong. */
const rejectedWith = (text: RegExp) => (error: { code: string; message: string }) => {
  assert.equal(error.code, "IMPORT_BLOCK_REJECTED");
  assert.match(error.message, text);
  return true;
};

const withList = (index: number, change: (list: Uint8Array) => Uint8Array) =>
  parts.map((part, i) => (i === index ? { ...part, list: change(part.list) } : part));

test("a list with a changed value stops the import at its block, with account, field and index", async () => {
  const changed = withList(1, (bytes) => {
    const list = decodeBlockAccessList(bytes);
    const at = list.findIndex(({ nonceChanges }) => nonceChanges.length > 0);
    const sender = list[at]!;
    const wrong = { ...sender, nonceChanges: [{ index: 1, value: 77n }] };
    return encodeBlockAccessList(list.map((account, i) => (i === at ? wrong : account)));
  });
  await assert.rejects(
    imported(changed),
    rejectedWith(/^block 2: .*account 0x[0-9a-f]{40}, nonceChanges, index 1: 77, expected 2/),
  );
});

test("a list without its last account, one of another order and one of another block stop the import", async () => {
  const shortened = withList(0, (bytes) => encodeBlockAccessList(decodeBlockAccessList(bytes).slice(0, -1)));
  await assert.rejects(imported(shortened), rejectedWith(/account 0x[0-9a-f]{40}: missing/));
  const reordered = withList(0, (bytes) => encodeBlockAccessList([...decodeBlockAccessList(bytes)].reverse()));
  await assert.rejects(imported(reordered), { code: "INVALID_CHAIN_FILE" });
  const exchanged = [{ ...parts[0]!, list: parts[1]!.list }, ...parts.slice(1)];
  await assert.rejects(imported(exchanged), rejectedWith(/account 0x[0-9a-f]{40}/));
});

test("a list that is cut off is no item of the file", async () => {
  const cut = withList(2, (bytes) => bytes.subarray(0, bytes.length - 3));
  await assert.rejects(imported(cut), { code: "INVALID_CHAIN_FILE" });
});
