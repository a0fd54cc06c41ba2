import assert from "node:assert/strict";
import { test } from "node:test";
import { worstInput } from "../../../bench/worst-case/method-inputs.ts";
import { METHODS } from "../../../src/rpc/methods/methods.ts";

test("the worst-case benchmark has an input for every method a stranger can call", () => {
  const target = { blockHash: "0x", transactionHash: "0x", account: "0x" };
  const missing = METHODS.filter(({ isPrivate, name }) => {
    return !isPrivate && worstInput(name, target) === undefined;
  });
  assert.deepEqual(
    missing.map(({ name }) => name),
    [],
  );
});
