import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ALICE, BASE_FEE, BOB, CHAIN_ID, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { decodeTransaction } from "../../../base/types/transaction/decode.ts";
import { recoverSender } from "../../../base/types/transaction/sender.ts";
import { sendTransaction } from "./submit.ts";

test("eth_sendTransaction fills in, signs and submits", async () => {
  const modules = createTestModules();
  const result = await sendTransaction.call(modules, [{ from: ALICE, to: BOB, value: "0x1" }]);
  const [tx] = modules.submitted;
  assert.ok(tx?.type === 2);
  assert.equal(result, tx.hash);
  assert.equal(recoverSender(tx), ALICE);
  assert.equal(tx.nonce, 4n);
  assert.equal(tx.chainId, CHAIN_ID);
  assert.equal(tx.maxPriorityFeePerGas, 5n);
  assert.equal(tx.maxFeePerGas, 2n * BASE_FEE + 5n);
});

test("eth_sendTransaction gives 90000 gas, or the estimate where that is more, or what is asked", async () => {
  for (const [estimate, gas, expected] of [
    [21_000n, undefined, 90_000n],
    [500_000n, undefined, 500_000n],
    [500_000n, "0x7530", 30_000n],
  ] as const) {
    const modules = createTestModules({ execution: { estimateGas: () => estimate } });
    await sendTransaction.call(modules, [{ from: ALICE, to: BOB, gas }]);
    assert.equal(modules.submitted[0]!.gasLimit, expected);
  }
});

test("eth_sendTransaction with a gas price is a legacy transaction", async () => {
  const modules = createTestModules();
  const request = { from: ALICE, to: BOB, gasPrice: "0x77359400", nonce: "0x7" };
  await sendTransaction.call(modules, [request]);
  const [tx] = modules.submitted;
  assert.ok(tx?.type === 0);
  assert.deepEqual([tx.nonce, tx.chainId, recoverSender(tx)], [7n, CHAIN_ID, ALICE]);
});

test("eth_sendTransaction sends the transactions of one account one after the other", async () => {
  const { submit } = createTestModules().backend;
  let next = 0n;
  const submitted: Uint8Array[] = [];
  const modules = createTestModules({
    pool: { nonceOf: () => next },
    async submit(raw) {
      assert.ok(raw instanceof Uint8Array);
      submitted.push(raw);
      const hash = await submit(raw);
      await setImmediate();
      next++;
      return hash;
    },
  });
  const send = () => sendTransaction.call(modules, [{ from: ALICE, to: BOB }]);
  await Promise.all([send(), send(), send()]);
  assert.deepEqual(
    submitted.map((raw) => decodeTransaction(raw).nonce),
    [0n, 1n, 2n],
  );
});

test("eth_sendTransaction refuses accounts it does not hold and fields that contradict each other", async () => {
  const modules = createTestModules();
  await assert.rejects(sendTransaction.call(modules, [{ from: BOB, to: BOB }]), {
    code: "ACCOUNT_UNKNOWN",
  });
  for (const [fields, code] of [
    [{ to: BOB, data: "0x01", input: "0x02" }, "RPC_TRANSACTION_FIELDS"],
    [{}, "RPC_TRANSACTION_FIELDS"],
    [{ to: BOB, blobs: [] }, "RPC_TRANSACTION_FIELDS"],
    [{ to: BOB, blobVersionedHashes: [ZERO_HASH] }, "RPC_TRANSACTION_FIELDS"],
    [{ to: BOB, gasPrice: "0x1", maxFeePerGas: "0x1" }, "CALL_INVALID_ARGUMENTS"],
    [{ to: BOB, chainId: "0x1" }, "CALL_INVALID_ARGUMENTS"],
  ] as const) {
    await assert.rejects(sendTransaction.call(modules, [{ from: ALICE, ...fields }]), { code });
  }
  assert.equal(modules.submitted.length, 0);
});
