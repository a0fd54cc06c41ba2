import assert from "node:assert/strict";
import { test } from "node:test";
import { BOB, CONTRACT, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { hashFromBigint, ZERO_HASH } from "../../../base/primitives/hash.ts";
import { getStorageValues } from "./state.ts";

const modules = createTestModules();
const one = hashFromBigint(1n);

test("eth_getStorageValues reads many slots of many accounts, in the order asked", async () => {
  const result = await getStorageValues.call(modules, [{ [BOB]: [one], [CONTRACT]: [ZERO_HASH, one] }]);
  assert.deepEqual(result, {
    [BOB]: [ZERO_HASH],
    [CONTRACT]: [ZERO_HASH, hashFromBigint(0x2an)],
  });
});

test("eth_getStorageValues wants at least one slot, and at most 1024 in all", async () => {
  await assert.rejects(getStorageValues.call(modules, [{}]), { code: "RPC_INVALID_PARAMS" });
  const slots = Array(513).fill(one);
  await assert.rejects(getStorageValues.call(modules, [{ [BOB]: slots, [CONTRACT]: slots }]), {
    code: "RPC_LIMIT_EXCEEDED",
  });
});

test("eth_getStorageValues of a block that is rolled back meanwhile gives no values of another", async () => {
  const { blocks } = modules;
  const slots = { [CONTRACT]: Array(64).fill(one) };
  const rolledBack = createTestModules({ reader: { blockHash: () => blocks[0]!.block.hash } });
  await assert.rejects(getStorageValues.call(rolledBack, [slots, "latest"]), { code: "RPC_UNKNOWN_BLOCK" });
  const { [CONTRACT]: values } = (await getStorageValues.call(modules, [slots, "latest"])) as Record<string, unknown[]>;
  assert.equal(values!.length, 64);
});

test("eth_getStorageValues takes slots of exactly 32 bytes", async () => {
  await assert.rejects(getStorageValues.call(modules, [{ [BOB]: ["0x1"] }]), {
    details: { param: "slots" },
  });
});

test("eth_getStorageValues refuses too many slots before it decodes one", async () => {
  // None of them is a hash: decoded first, that would be the fault.
  const slots = { [CONTRACT]: Array(1_025).fill("no hash") };
  await assert.rejects(getStorageValues.call(createTestModules(), [slots, "latest"]), { code: "RPC_LIMIT_EXCEEDED" });
});
