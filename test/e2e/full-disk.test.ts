import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { call, RpcError } from "../crash/victim.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { startTestNode } from "../support/test-node.ts";

const [from, to] = DEV_ADDRESSES;
const TRANSFER = [{ from, to, value: "0x5", gas: "0x5208" }];

test("a node started on a full disk serves reads and makes no block, also where its index is gone, and goes on with space", async () => {
  const home = mkdtempSync(join(tmpdir(), "evmint-full-disk-"));
  const start = (freeBytes: number, expectedErrors: readonly RegExp[] = []) =>
    startTestNode({
      dev: true,
      home,
      settings: { "consensus.block-time": "manual" },
      hooks: { freeBytes: () => freeBytes },
      expectedErrors,
    });
  try {
    const first = await start(Infinity);
    const hash = await call<string>(first.url, "eth_sendTransaction", TRANSFER);
    first.produceBlock();
    const receipt = await call(first.url, "eth_getTransactionReceipt", [hash]);
    const balance = await call(first.url, "eth_getBalance", [to, "latest"]);
    await first.stop();

    for (const hasIndex of [true, false]) {
      if (!hasIndex) rmSync(join(home, "data/index"), { recursive: true });
      const full = await start(0, [/^error rpc: call failed method=evm_mine .*STORE_DISK_FULL/]);
      const { url } = full;
      assert.deepEqual(await call(url, "eth_getTransactionReceipt", [hash]), receipt);
      assert.equal(await call(url, "eth_getBalance", [to, "latest"]), balance);
      assert.equal(await call(url, "eth_call", [TRANSFER[0], "latest"]), "0x");
      await assert.rejects(call(url, "evm_mine", []), RpcError);
      assert.throws(() => full.produceBlock(), { code: "STORE_DISK_FULL" });
      assert.equal(await call(url, "eth_blockNumber", []), "0x1");
      await full.stop();
    }

    const again = await start(Infinity);
    again.produceBlock();
    assert.equal(await call(again.url, "eth_blockNumber", []), "0x2");
    assert.deepEqual(await call(again.url, "eth_getTransactionReceipt", [hash]), receipt);
    await again.stop();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
