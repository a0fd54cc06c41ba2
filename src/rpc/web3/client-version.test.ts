import assert from "node:assert/strict";
import { test } from "node:test";
import { TEST_NODE } from "../testing/test-methods.ts";
import { clientVersion } from "./client-version.ts";

test("web3_clientVersion is what the node calls itself", async () => {
  assert.equal(await clientVersion.call({ node: TEST_NODE }), TEST_NODE.clientVersion);
});
