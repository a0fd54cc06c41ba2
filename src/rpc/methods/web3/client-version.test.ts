import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { TEST_NODE_INFO } from "../../../../test/support/rpc/test-methods.ts";
import { clientVersion } from "./methods.ts";

test("web3_clientVersion is the version the node reports", async () => {
  assert.equal(await clientVersion.call(createTestModules()), TEST_NODE_INFO.clientVersion);
});
