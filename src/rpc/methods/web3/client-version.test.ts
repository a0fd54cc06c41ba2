import assert from "node:assert/strict";
import { test } from "node:test";
import { TEST_NODE_INFO } from "../../testing/test-methods.ts";
import { overBothTransports } from "../../testing/transports.ts";
import { clientVersion } from "./methods.ts";

overBothTransports((createTestModules) => {
  test("web3_clientVersion is the version the node reports", async () => {
    assert.equal(await clientVersion.call(createTestModules()), TEST_NODE_INFO.clientVersion);
  });
});
