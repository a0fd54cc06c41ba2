import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesToHex, hexToBytes } from "../../../base/primitives/hex.ts";
import { compareCode, readUpload, sourcesOf } from "./artifact.ts";

const abi = [{ type: "function", name: "f", inputs: [] }];
const CODE = "0x6001600255";
const immutableReferences = { 7: [{ start: 1, length: 2 }] };
const input = { language: "Solidity", sources: { "A.sol": { content: "contract A {}" } } };
const output = {
  contracts: {
    "A.sol": {
      A: { abi, evm: { deployedBytecode: { object: CODE.slice(2), immutableReferences } } },
    },
  },
};

/** Each form of file that has the compiled contract A. */
const FORMS: Readonly<Record<string, unknown>> = {
  "Hardhat's artifact": {
    contractName: "A",
    abi,
    bytecode: "0x00",
    deployedBytecode: CODE,
    immutableReferences,
  },
  "Foundry's artifact": {
    abi,
    bytecode: { object: "0x00" },
    deployedBytecode: { object: CODE, immutableReferences },
    metadata: { settings: { compilationTarget: { "src/A.sol": "A" } } },
  },
  "solc's standard JSON output": output,
  "Hardhat's build-info": { input, output },
  "Foundry's build-info": {
    input: { ...input, version: "0.8.37", allowPaths: [], basePath: "/", includePaths: [] },
    output,
  },
};

for (const [form, json] of Object.entries(FORMS)) {
  test(`readUpload reads ${form}`, () => {
    const { contracts, input: found } = readUpload(JSON.stringify(json), "file.json");
    const [contract, ...others] = contracts;
    assert.equal(others.length, 0);
    assert.deepEqual(found, "input" in (json as object) ? input : undefined);
    assert.equal(contract?.name, "A");
    assert.deepEqual(contract.abi, abi);
    assert.equal(bytesToHex(contract.runtime.bytes), CODE);
    assert.deepEqual(contract.runtime.placeholders, [[1, 2]]);
  });
}

test("readUpload reads solc's standard JSON input, whose sources are listed from the one that declares the contract on", () => {
  const two = { ...input, sources: { "B.sol": { content: "library B {}" }, ...input.sources } };
  const upload = readUpload(JSON.stringify(two), "input.json");
  assert.deepEqual(upload, { contracts: [], input: two });
  assert.deepEqual(Object.entries(sourcesOf(two, "A")), [
    ["A.sol", "contract A {}"],
    ["B.sol", "library B {}"],
  ]);
});

test("readUpload takes a bare ABI, named after its file, and finds nothing in another file", () => {
  const [contract] = readUpload(JSON.stringify(abi), "Token.json").contracts;
  assert.equal(contract?.name, "Token");
  assert.equal(compareCode(hexToBytes(CODE), contract.runtime), "no code");
  assert.deepEqual(readUpload('{"a":1}', "a.json"), { contracts: [], input: undefined });
  assert.throws(() => readUpload("{", "a.json"), SyntaxError);
});

const compiled = (hex: string, placeholders: readonly (readonly [number, number])[] = []) => ({
  bytes: hexToBytes(hex),
  placeholders,
  sourceMap: undefined,
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

/** solc's standard JSON output of one contract with `deployedBytecode`. */
const outputOf = (deployedBytecode: object) =>
  JSON.stringify({ contracts: { "A.sol": { A: { abi, evm: { deployedBytecode } } } } });
const runtimeOf = (text: string) => readUpload(text, "a.json").contracts[0]!.runtime;

test("addresses of libraries are left out of the comparison, in code that calls one and in a library itself", () => {
  const [before, after] = ["6001", "600255"];
  const linkReferences = { "L.sol": { L: [{ start: 3, length: 20 }] } };
  const object = `${before}73__$${"ab".repeat(17)}$__${after}`;
  const caller = runtimeOf(outputOf({ object, linkReferences }));
  const linked = (address: string) => hexToBytes(`0x${before}73${address}${after}`);
  assert.equal(compareCode(linked("12".repeat(20)), caller), "exact");
  assert.equal(compareCode(hexToBytes(`0x6002${"00".repeat(24)}`), caller), "different");
  const library = runtimeOf(outputOf({ object: `73${"00".repeat(20)}3014${after}` }));
  assert.equal(compareCode(hexToBytes(`0x73${"34".repeat(20)}3014${after}`), library), "exact");
});
