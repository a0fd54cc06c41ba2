import assert from "node:assert/strict";
import { test } from "node:test";
import { Common, type Hardfork as LibraryHardfork, Mainnet } from "@ethereumjs/common";
import { createEVM } from "@ethereumjs/evm";
import { precompileInputs } from "../../../../test/support/evm/machine/precompiles/inputs.ts";
import fc from "../../../../test/support/fast-check.ts";
import { HARDFORKS, type Hardfork } from "../../../base/params/hardforks.ts";
import type { Precompile } from "../state-port.ts";
import { precompilesAt } from "./index.ts";

/** More than any input here that is worth running costs. */
const GAS_LIMIT = 2_000_000n;

const NAMES = [
  "ECREC",
  "SHA256",
  "RIPEMD160",
  "ID",
  "MODEXP",
  "BN254_ADD",
  "BN254_MUL",
  "BN254_PAIRING",
  "BLAKE2F",
  "KZG_POINT_EVALUATION",
  "BLS12_G1ADD",
  "BLS12_G1MSM",
  "BLS12_G2ADD",
  "BLS12_G2MSM",
  "BLS12_PAIRING_CHECK",
  "BLS12_MAP_FP_TO_G1",
  "BLS12_MAP_FP2_TO_G2",
  "P256VERIFY",
];

test("precompilesAt gives each fork its contracts, in the order of their addresses", () => {
  const counts: Partial<Record<Hardfork, number>> = {};
  for (const hardfork of HARDFORKS) {
    const precompiles = precompilesAt(hardfork);
    counts[hardfork] = precompiles.size;
    const names = [...precompiles.values()].map(({ name }) => name);
    assert.deepEqual(names, NAMES.slice(0, names.length));
    const addresses = [...precompiles.keys()].map(BigInt);
    const expected = names.map((_, i) => (i === 17 ? 0x100n : BigInt(i + 1)));
    assert.deepEqual(addresses, expected);
  }
  assert.deepEqual(counts, {
    frontier: 4,
    homestead: 4,
    tangerineWhistle: 4,
    spuriousDragon: 4,
    byzantium: 8,
    constantinople: 8,
    petersburg: 8,
    istanbul: 9,
    berlin: 9,
    london: 9,
    paris: 9,
    shanghai: 9,
    cancun: 10,
    prague: 17,
    osaka: 18,
    amsterdam: 18,
  });
});

/** Forks that changed a precompile, with those whose gas or rules they changed. */
const CHANGES: Partial<Record<Hardfork, readonly string[]>> = {
  byzantium: NAMES.slice(0, 8),
  istanbul: ["BN254_ADD", "BN254_MUL", "BN254_PAIRING", "BLAKE2F"],
  berlin: ["MODEXP"],
  prague: NAMES.slice(10, 17),
  osaka: ["MODEXP", "P256VERIFY"],
};

for (const [hardfork, names] of Object.entries(CHANGES)) {
  const common = new Common({ chain: Mainnet, hardfork: hardfork as LibraryHardfork });
  const library = await createEVM({ common });
  const precompiles = [...precompilesAt(hardfork as Hardfork)];
  for (const name of names) {
    test(`${name} of ${hardfork} agrees with @ethereumjs/evm in output, failure and gas`, async () => {
      const [address, precompile] = precompiles.find(([, one]) => one.name === name)!;
      const oracle = library.precompiles.get(address.slice(2))!;
      const runOracle = async (data: Uint8Array, gasLimit: bigint) => oracle({ data, gasLimit, common, _EVM: library });
      await fc.assert(
        fc.asyncProperty(precompileInputs[name]!, async (input) => {
          const before = Uint8Array.from(input);
          const ours = call(precompile, input, GAS_LIMIT);
          const theirs = await runOracle(before, GAS_LIMIT);
          assert.equal(ours === undefined, theirs.exceptionError !== undefined);
          assert.deepEqual(input, before, "the input was written to");
          if (!ours) return;
          assert.deepEqual(ours.output, Uint8Array.from(theirs.returnValue));
          assert.equal(ours.gas, theirs.executionGasUsed);
        }),
        { numRuns: 60 },
      );
    });
  }
}

/** Undefined for a failure, out of gas among them. */
function call({ gas, run }: Precompile, input: Uint8Array, gasLimit: bigint) {
  const cost = gas(input);
  if (cost > gasLimit) return undefined;
  const output = run(input);
  return output instanceof Uint8Array ? { output: Uint8Array.from(output), gas: cost } : undefined;
}
