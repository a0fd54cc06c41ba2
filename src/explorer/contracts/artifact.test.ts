import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesToHex, hexToBytes } from "../../primitives/hex.ts";
import { contractsIn } from "./artifact.ts";
import { compareCode } from "./compare-code.ts";

const abi = [{ type: "function", name: "f", inputs: [] }];
const CODE = "0x6001600255";
const immutableReferences = { 7: [{ start: 1, length: 2 }] };
const output = {
  contracts: {
    "A.sol": {
      A: { abi, evm: { deployedBytecode: { object: CODE.slice(2), immutableReferences } } },
    },
  },
};

/** Each form of file that has contract A. */
const FORMS: Readonly<Record<string, unknown>> = {
  "Hardhat's artifact": {
    ...{ contractName: "A", abi, bytecode: "0x00" },
    ...{ deployedBytecode: CODE, immutableReferences },
  },
  "Foundry's artifact": {
    ...{ abi, bytecode: { object: "0x00" } },
    deployedBytecode: { object: CODE, immutableReferences },
    metadata: { settings: { compilationTarget: { "src/A.sol": "A" } } },
  },
  "solc's standard JSON output": output,
  "Hardhat's build-info": { input: {}, output },
};

for (const [form, json] of Object.entries(FORMS)) {
  test(`contractsIn reads ${form}`, () => {
    const [contract, ...others] = contractsIn(JSON.stringify(json), "file.json");
    assert.equal(others.length, 0);
    assert.equal(contract?.name, "A");
    assert.deepEqual(contract.abi, abi);
    assert.equal(bytesToHex(contract.runtime.bytes), CODE);
    assert.deepEqual(contract.runtime.immutables, [[1, 2]]);
  });
}

test("contractsIn takes a bare ABI, named after its file, and finds nothing in another file", () => {
  const [contract] = contractsIn(JSON.stringify(abi), "Token.json");
  assert.equal(contract?.name, "Token");
  assert.equal(compareCode(hexToBytes(CODE), contract.runtime), "no code");
  assert.deepEqual(contractsIn('{"a":1}', "a.json"), []);
  assert.throws(() => contractsIn("{", "a.json"), SyntaxError);
});

const compiled = (hex: string, immutables: readonly (readonly [number, number])[] = []) => ({
  ...{ bytes: hexToBytes(hex), immutables, sourceMap: undefined },
});
/** CBOR of {"x": n}, with its length behind it. */
const metadata = (n: number) => `a1617818${n.toString(16)}0005`;

test("compareCode tells equal code, other metadata, immutables and other code apart", () => {
  const deployed = hexToBytes(`${CODE}${metadata(0x42)}`);
  assert.equal(compareCode(deployed, compiled(`${CODE}${metadata(0x42)}`)), "exact");
  assert.equal(compareCode(deployed, compiled(`${CODE}${metadata(0x43)}`)), "same instructions");
  assert.equal(compareCode(deployed, compiled(`0x6001600355${metadata(0x42)}`)), "different");
  assert.equal(compareCode(deployed, compiled(CODE)), "different");
  const withImmutable = compiled(`0x6000600255${metadata(0x42)}`, [[1, 1]]);
  assert.equal(compareCode(deployed, withImmutable), "exact");
  assert.equal(compareCode(new Uint8Array(0), compiled(CODE)), "different");
});
