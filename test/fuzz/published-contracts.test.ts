import assert from "node:assert/strict";
import { test } from "node:test";
import { createEvm } from "../../src/evm/machine/engine.ts";
import { compileAtOnce } from "../support/evm/machine/compile-at-once.ts";
import { callEveryFunction, publishedContracts } from "./published-contracts.ts";

const ROUNDS = 4;

const interpreter = createEvm();
const engines = {
  compiled: createEvm({ tier: compileAtOnce() }),
  alternating: createEvm({ tier: compileAtOnce({ alternates: true }) }),
};

for (const contract of publishedContracts()) {
  test(`${contract.name} does the same on both tiers, whichever function is called`, () => {
    const expected = callEveryFunction(interpreter, contract, 1, ROUNDS);
    const [name, outcome] = [contract.succeeds ?? "constructor", "success"];
    assert.ok(expected.some((line) => line.startsWith(JSON.stringify([name, outcome]).slice(0, -1))));
    for (const [name, evm] of Object.entries(engines)) {
      assert.deepEqual(callEveryFunction(evm, contract, 1, ROUNDS), expected, name);
    }
  });
}
