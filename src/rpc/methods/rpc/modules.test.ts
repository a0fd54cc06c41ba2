import assert from "node:assert/strict";
import { test } from "node:test";
import { inProcessContext } from "../../transport/dispatch/context.ts";
import { modules } from "./methods.ts";

test("rpc_modules lists what is enabled where the caller came in", async () => {
  assert.deepEqual(await modules.call({}, [], inProcessContext(["net", "eth"])), {
    eth: "1.0",
    net: "1.0",
    rpc: "1.0",
  });
});
