import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiParameterError, ETHERSCAN_API_LIMITS, Parameters, verificationOf } from "./parameters.ts";

const ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const INPUT = { language: "Solidity", sources: { "src/A.sol": { content: "contract A {}" } }, settings: {} };

const form = (changes: Readonly<Record<string, string | undefined>> = {}) => {
  const all: Record<string, string | undefined> = {
    contractaddress: ADDRESS,
    sourceCode: JSON.stringify(INPUT),
    codeformat: "solidity-standard-json-input",
    contractname: "src/A.sol:A",
    compilerversion: "v0.8.37+commit.f401782d",
    constructorArguements: "00ff",
    ...changes,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new Parameters("module=contract&chainid=31337", new URLSearchParams(given).toString());
};

test("verificationOf reads what forge and Hardhat send", () => {
  assert.deepEqual(verificationOf(form()), {
    address: ADDRESS.toLowerCase(),
    input: INPUT,
    contract: "src/A.sol:A",
    compilerVersion: "v0.8.37+commit.f401782d",
    constructorArguments: "0x00ff",
  });
  assert.equal(verificationOf(form({ constructorArguements: undefined })).constructorArguments, undefined);
  const spelt = form({ constructorArguements: undefined, constructorArguments: "0xAB" });
  assert.equal(verificationOf(spelt).constructorArguments, "0xab");
});

test("verificationOf makes standard JSON of a flattened source", () => {
  const flattened = form({
    codeformat: "solidity-single-file",
    sourceCode: "contract A {}",
    contractname: "A",
    optimizationUsed: "1",
    runs: "7",
    evmversion: "shanghai",
  });
  assert.deepEqual(verificationOf(flattened).input, {
    language: "Solidity",
    sources: { "A.sol": { content: "contract A {}" } },
    settings: { optimizer: { enabled: true, runs: 7 }, evmVersion: "shanghai" },
  });
});

const REJECTED: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  "no address": { contractaddress: undefined },
  "an address that is none": { contractaddress: "0x12" },
  "no source": { sourceCode: "" },
  "a source that is no JSON": { sourceCode: "contract A {}" },
  "JSON that is no object": { sourceCode: "[]" },
  "JSON without end of depth": { sourceCode: `${'{"a":'.repeat(100)}1${"}".repeat(100)}` },
  "another format": { codeformat: "vyper-json" },
  "no compiler": { compilerversion: undefined },
  "no contract": { contractname: undefined },
  "arguments that are not hex": { constructorArguements: "0xzz" },
  "half a byte of arguments": { constructorArguements: "123" },
};

for (const [what, changes] of Object.entries(REJECTED)) {
  test(`verificationOf rejects ${what}`, () => {
    assert.throws(() => verificationOf(form(changes)), ApiParameterError);
  });
}

test("Parameters rejects two values of one name, and too many names", () => {
  assert.equal(new Parameters("a=1", "A=1").text("a"), "1");
  assert.throws(() => new Parameters("a=1", "A=2"), ApiParameterError);
  const many = Array.from({ length: ETHERSCAN_API_LIMITS.parametersMax + 1 }, (_, i) => `n${i}=1`).join("&");
  assert.throws(() => new Parameters(many), ApiParameterError);
  assert.throws(() => new Parameters("a=1&".repeat(3_000_000)), ApiParameterError);
});

test("Parameters reads whole numbers up to a maximum", () => {
  const parameters = new Parameters("a=5&b=99999999999999999999&c=-1&d=");
  assert.deepEqual(
    [parameters.integer("a", 1, 9), parameters.integer("b", 1, 9), parameters.integer("d", 1, 9)],
    [5, 9, 1],
  );
  assert.throws(() => parameters.integer("c", 1, 9), ApiParameterError);
});
