import assert from "node:assert/strict";
import { test } from "node:test";
import { BASE_FEE, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { baseFee, blobBaseFee, feeHistory, gasPrice, maxPriorityFeePerGas } from "./fees.ts";

const modules = createTestModules();
const { chain } = modules;
const preLondon = { ...chain, config: { chainId: 1n, blobSchedule: {} } };

test("eth_gasPrice is the suggested tip on top of the head's base fee", async () => {
  assert.equal(await maxPriorityFeePerGas.call(modules), "0x5");
  assert.equal(await gasPrice.call(modules), `0x${(BASE_FEE + 5n).toString(16)}`);
});

test("eth_baseFee is the next block's: an empty head lowers it by an eighth", async () => {
  assert.equal(await baseFee.call(modules), `0x${((BASE_FEE * 7n) / 8n).toString(16)}`);
  assert.equal(await baseFee.call({ chain: preLondon }), null);
});

test("eth_blobBaseFee is the head's, null before Cancun", async () => {
  assert.equal(await blobBaseFee.call(modules), "0x1");
  assert.equal(await blobBaseFee.call({ chain: preLondon }), null);
});

test("eth_feeHistory writes what the fee reader found", async () => {
  assert.deepEqual(await feeHistory.call(modules, ["0x1", "latest", [25, 75]]), {
    oldestBlock: "0x2",
    reward: [["0x1", "0x2"]],
    baseFeePerGas: ["0x3b9aca00", "0x3b9aca00"],
    gasUsedRatio: [0.5],
    baseFeePerBlobGas: ["0x1", "0x1"],
    blobGasUsedRatio: [0],
  });
});

test("eth_feeHistory of no blocks has geth's shape", async () => {
  assert.deepEqual(await feeHistory.call(modules, ["0x0", "latest", []]), {
    oldestBlock: "0x0",
    gasUsedRatio: null,
  });
});

test("eth_feeHistory takes its count as number, decimal or hex, and nothing else", async () => {
  for (const count of [1, "1", "0x1"]) {
    assert.ok(await feeHistory.call(modules, [count, "0x1", []]));
  }
  for (const count of [-1, 1.5, "x", "0x", null]) {
    await assert.rejects(feeHistory.call(modules, [count, "latest", []]), {
      details: { param: "count" },
    });
  }
  for (const [percentiles, reason] of [
    [5, "number into Go value of type []float64"],
    [{}, "object into Go value of type []float64"],
    [["50"], "string into Go value of type float64"],
    [[1, [2]], "array into Go value of type float64"],
  ] as const) {
    await assert.rejects(feeHistory.call(modules, ["0x1", "latest", percentiles]), {
      code: "RPC_INVALID_PARAMS",
      message: `invalid argument 2: json: cannot unmarshal ${reason}`,
    });
  }
  await assert.rejects(feeHistory.call(modules, ["0x1", "latest"]), {
    details: { param: "percentiles" },
  });
});
