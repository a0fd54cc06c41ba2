import assert from "node:assert/strict";
import { test } from "node:test";
import { checksumAddress } from "../../../primitives/address.ts";
import { ALICE, BOB, createTestModules } from "../../testing/test-chain.ts";
import { content, contentFrom, inspect, status } from "./methods.ts";

const modules = createTestModules();
const alice = checksumAddress(ALICE);
type Content = Record<"pending" | "queued", Record<string, Record<string, unknown>>>;

test("txpool_content is keyed by EIP-55 address and decimal nonce", async () => {
  const { pending, queued } = (await content.call(modules)) as Content;
  const tx = pending[alice]!["4"] as Record<string, unknown>;
  assert.equal(tx["hash"], modules.pooled[0]!.tx.hash);
  assert.equal(tx["blockHash"], null);
  assert.deepEqual(Object.keys(queued[alice]!), ["6"]);
});

test("txpool_contentFrom is one sender's part; both keys are always there", async () => {
  const { pending } = (await contentFrom.call(modules, [ALICE])) as Content;
  assert.deepEqual(Object.keys(pending), ["4"]);
  assert.deepEqual(await contentFrom.call(modules, [BOB]), { pending: {}, queued: {} });
});

test("txpool_inspect has one line a transaction", async () => {
  const { pending } = (await inspect.call(modules)) as Content;
  assert.deepEqual(pending[alice], {
    4: `${checksumAddress(BOB)}: 1 wei + 21000 gas × 3000000000 wei`,
  });
});

test("txpool_status counts", async () => {
  assert.deepEqual(await status.call(modules), { pending: "0x1", queued: "0x1" });
});

test("an address without transactions is left out of txpool_content", async () => {
  const pool = {
    content: () => ({ pending: new Map([[ALICE, []]]), queued: new Map() }),
  };
  assert.deepEqual(await content.call(createTestModules({ pool })), { pending: {}, queued: {} });
});
