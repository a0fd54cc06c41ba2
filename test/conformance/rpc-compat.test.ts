import assert from "node:assert/strict";
import { test } from "node:test";
import { fixture, skipWithout } from "../support/fixtures.ts";
import { run } from "./rpc-compat.ts";

const tests = fixture("rpc-compat", "tests");
const genesis = fixture("rpc-compat", "genesis.json");
const chain = fixture("rpc-compat", "chain.rlp");

test("the recorded execution-apis conversations are answered as recorded", {
  skip: skipWithout(tests && genesis && chain, "rpc-compat"),
}, async () => {
  const result = await run(["--tests", tests!, "--genesis", genesis!, "--chain", chain!]);
  assert.deepEqual(result.failures, []);
  assert.ok(result.passed > 100);
});
