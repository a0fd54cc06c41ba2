import assert from "node:assert/strict";
import { test } from "node:test";
import { ALICE, BOB, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { getTransactionCount } from "./state.ts";

test("eth_getTransactionCount is the state's nonce, or the pool's next one for pending", async () => {
  const modules = createTestModules();
  assert.equal(await getTransactionCount.call(modules, [ALICE]), "0x2");
  assert.equal(await getTransactionCount.call(modules, [ALICE, "0x0"]), "0x0");
  assert.equal(await getTransactionCount.call(modules, [BOB]), "0x0");
  const pending = () => assert.fail("no block is built for a nonce");
  const chain = { ...modules.chain, pending };
  assert.equal(await getTransactionCount.call({ ...modules, chain }, [ALICE, "pending"]), "0x4");
});
