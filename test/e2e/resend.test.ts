import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { overHttp } from "../support/clients.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

let node: TestNode;
before(async () => {
  node = await startTestNode({ dev: true, settings: { "consensus.block-time": "manual" } });
});
after(() => node.stop());

const call = (method: string, ...params: unknown[]) => overHttp(node.url, method, params);
const [from, to] = DEV_ADDRESSES;

test("eth_resend replaces a pending transaction of the node's by a dearer one", async () => {
  for (const fees of [{ gasPrice: "0x77359400" }, { maxFeePerGas: "0x77359400", maxPriorityFeePerGas: "0x77359400" }]) {
    const nonce = (await call("eth_getTransactionCount", from, "latest")).result;
    const request = { from, to, value: "0x1", gas: "0x5208", nonce, ...fees };
    const first = (await call("eth_sendTransaction", request)).result;
    const cheap = await call("eth_resend", request, "0x77359401");
    assert.equal(cheap.error?.message, "replacement transaction underpriced");
    const second = await call("eth_resend", request, "0xb2d05e00", "0x7530");
    assert.ok(second.result, second.error?.message);
    node.produceBlock();
    assert.equal((await call("eth_getTransactionReceipt", first)).result, null);
    const mined = (await call("eth_getTransactionByHash", second.result)).result as {
      gas: string;
      gasPrice: string;
      blockNumber: string;
    };
    assert.equal(mined.gas, "0x7530");
    assert.ok(mined.blockNumber);
  }
});

test("eth_resend wants a nonce and a pending transaction of the sender", async () => {
  const request = { from, to, gas: "0x5208", gasPrice: "0x77359400" };
  assert.equal(
    (await call("eth_resend", request, "0xb2d05e00")).error?.message,
    "missing transaction nonce in transaction spec",
  );
  const missing = await call("eth_resend", { ...request, nonce: "0x63" }, "0xb2d05e00");
  assert.match(missing.error?.message ?? "", /^transaction 0x[0-9a-f]{64} not found$/);
  const stranger = { ...request, from: `0x${"99".repeat(20)}`, nonce: "0x0" };
  const unknown = await call("eth_resend", stranger);
  assert.match(unknown.error?.message ?? "", /^transaction 0x[0-9a-f]{64} not found$/);
});
