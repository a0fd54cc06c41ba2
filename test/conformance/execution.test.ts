import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { hardforkAt } from "../../src/base/params/hardforks.ts";
import { fixture, jsonFiles, skipWithout } from "../support/fixtures.ts";
import { blockchainTestCases } from "./blockchain-tests.ts";
import { createEngine } from "./engines.ts";
import { configOfNetwork } from "./networks.ts";
import { recordedEngine } from "./recorded-engine.ts";
import { type CaseResult, stateTestCases } from "./state-tests.ts";

const vectors = fixture("ethereum-tests");
const skip = skipWithout(vectors, "ethereum-tests");

/** A part of the vectors that is run in seconds and touches every rule: `npm run conformance` runs them all. */
const STATE_TESTS = [
  "GeneralStateTests/stExample",
  "GeneralStateTests/stEIP1559",
  "GeneralStateTests/stEIP2930",
  "GeneralStateTests/stEIP3607",
  "GeneralStateTests/stTransactionTest",
  "GeneralStateTests/stRefundTest",
  "GeneralStateTests/Shanghai",
  "GeneralStateTests/Cancun/stEIP4844-blobtransactions",
  "Osaka",
];
const BLOCKCHAIN_TESTS = [
  "BlockchainTests/InvalidBlocks",
  "BlockchainTests/ValidBlocks/bcEIP1559",
  "BlockchainTests/ValidBlocks/bcValidBlockTest",
];

function assertPass(cases: Iterable<CaseResult>): number {
  let count = 0;
  for (const { name, fault } of cases) {
    assert.equal(fault, undefined, name);
    count++;
  }
  return count;
}

for (const dir of STATE_TESTS) {
  test(`official state tests, ${dir}`, { skip }, async () => {
    const evm = await createEngine();
    const counts = jsonFiles(join(vectors!, dir)).map((file) => assertPass(stateTestCases(file, evm)));
    assert.ok(counts.length > 0);
  });
}

for (const dir of BLOCKCHAIN_TESTS) {
  test(`official blockchain tests, ${dir}`, { skip }, async () => {
    const evm = await createEngine();
    const counts = jsonFiles(join(vectors!, dir)).map((file) => assertPass(blockchainTestCases(file, evm)));
    assert.ok(counts.length > 0);
  });
}

test("official tests pass with executions that are recorded first and then applied", { skip }, async () => {
  const counts = { relaxed: 0, exact: 0, unrecorded: 0 };
  const evm = recordedEngine(await createEngine(), counts);
  for (const dir of ["GeneralStateTests/stExample", "GeneralStateTests/stRefundTest", "GeneralStateTests/Shanghai"]) {
    for (const file of jsonFiles(join(vectors!, dir))) assertPass(stateTestCases(file, evm));
  }
  for (const file of jsonFiles(join(vectors!, "BlockchainTests/ValidBlocks")))
    assertPass(blockchainTestCases(file, evm));
  // Most calls of system contracts are not executed.
  assert.ok(counts.relaxed > 400 && counts.exact > 10 && counts.unrecorded === 0, JSON.stringify(counts));
});

test("configOfNetwork knows single forks and changes at a block or a time", () => {
  const at = (network: string, number: number, timestamp: number) =>
    hardforkAt(configOfNetwork(network)!, { number, timestamp, difficulty: 1n });
  assert.equal(at("Frontier", 0, 0), "frontier");
  assert.equal(at("Constantinople", 0, 0), "constantinople");
  assert.equal(at("ConstantinopleFix", 0, 0), "petersburg");
  assert.equal(at("Prague", 0, 0), "prague");
  assert.equal(at("BerlinToLondonAt5", 4, 0), "berlin");
  assert.equal(at("BerlinToLondonAt5", 5, 0), "london");
  assert.equal(at("ShanghaiToCancunAtTime15k", 1, 14_999), "shanghai");
  assert.equal(at("ShanghaiToCancunAtTime15k", 1, 15_000), "cancun");
  assert.equal(configOfNetwork("Nowhere"), undefined);
});
