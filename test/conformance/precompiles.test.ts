import assert from "node:assert/strict";
import { test } from "node:test";
import { fixture, jsonFiles, skipWithout } from "../support/fixtures.ts";
import { createEngine } from "./engines.ts";
import { stateTestCases } from "./state-tests.ts";

/** Vectors that are mostly about precompiles, with the engine that fits their rules. */
const FOLDERS: readonly (readonly [folder: string, engine: string, casesMin: number])[] = [
  ["GeneralStateTests/stPreCompiledContracts", "ethereumjs-own-precompiles", 500],
  ["GeneralStateTests/stPreCompiledContracts2", "ethereumjs-own-precompiles", 80],
  ["GeneralStateTests/stZeroKnowledge2", "ethereumjs-own-precompiles", 250],
  ["EIPTests/stEIP2537", "ethereumjs-eip2537-draft", 600],
  ["Osaka/osaka/eip7823_modexp_upper_bounds", "ethereumjs-own-precompiles", 20],
  ["Osaka/osaka/eip7883_modexp_gas_increase", "ethereumjs-own-precompiles", 70],
  ["Osaka/osaka/eip7951_p256verify_precompiles", "ethereumjs-own-precompiles", 20],
];

for (const [folder, engineName, casesMin] of FOLDERS) {
  const dir = fixture("ethereum-tests", folder);
  test(`precompiles pass ${folder}`, { skip: skipWithout(dir, folder) }, async () => {
    const engine = await createEngine(engineName);
    const faults: string[] = [];
    let cases = 0;
    for (const file of jsonFiles(dir!)) {
      for (const { name, fault } of stateTestCases(file, engine)) {
        cases++;
        if (fault !== undefined) faults.push(`${name}: ${fault}`);
      }
    }
    assert.deepEqual(faults, []);
    assert.ok(cases >= casesMin, `${cases} cases`);
  });
}
