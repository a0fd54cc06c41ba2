import assert from "node:assert/strict";
import { test } from "node:test";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import type { Contract } from "../../../dev/artifacts/contracts.ts";
import { assertCompiler, checkedInput, constructorArguments, declarationOf, matchOf } from "./compile-sources.ts";
import { VERIFIED_CONTRACT_LIMITS } from "./verified-contracts.ts";

const REJECTION = { code: "CONTRACT_VERIFICATION" };
const source = (content: string) => ({ language: "Solidity", sources: { "A.sol": { content } } });

test("checkedInput leaves out what chooses the output and what calls other programs", () => {
  const settings = { optimizer: { runs: 7 }, outputSelection: { "*": ["*"] }, modelChecker: { engine: "all" } };
  assert.deepEqual(checkedInput({ ...source("contract A {}"), settings, extra: 1 } as never), {
    ...source("contract A {}"),
    settings: { optimizer: { runs: 7 } },
  });
});

const INPUTS: Readonly<Record<string, object>> = {
  "another language": { ...source("x"), language: "Yul" },
  "no sources": { language: "Solidity" },
  "an empty list of sources": { language: "Solidity", sources: {} },
  "a source by URL": { language: "Solidity", sources: { "A.sol": { urls: ["file:///etc/passwd"] } } },
  "a source that is a text": { language: "Solidity", sources: { "A.sol": "contract A {}" } },
  "a path without end": { language: "Solidity", sources: { [`${"x".repeat(2000)}.sol`]: { content: "" } } },
  "too large a source": source("x".repeat(VERIFIED_CONTRACT_LIMITS.inputBytesMax)),
  "too many sources": {
    language: "Solidity",
    sources: Object.fromEntries(
      Array.from({ length: VERIFIED_CONTRACT_LIMITS.filesMax + 1 }, (_, i) => [`${i}.sol`, { content: "" }]),
    ),
  },
};
for (const [what, input] of Object.entries(INPUTS)) {
  test(`checkedInput rejects ${what}`, () => {
    assert.throws(() => checkedInput(input), REJECTION);
  });
}

test("assertCompiler wants the version and, where it is named, the commit of the node's compiler", async () => {
  const compiler = (version: string | undefined) => ({ compilerVersion: async () => version });
  const own = compiler("0.8.37+commit.f401782d.Emscripten.clang");
  for (const wanted of ["v0.8.37+commit.f401782d", "0.8.37+commit.f401782d.Linux.g++", "0.8.37"]) {
    assert.equal(await assertCompiler(wanted, own), "0.8.37+commit.f401782d");
  }
  for (const wanted of ["v0.8.36+commit.f401782d", "v0.8.37+commit.00000000", "newest", ""]) {
    await assert.rejects(assertCompiler(wanted, own), REJECTION);
  }
  await assert.rejects(assertCompiler("0.8.37", compiler(undefined)), REJECTION);
});

test("declarationOf finds the file of a bare name, and rejects what is not there or there twice", () => {
  const input = {
    sources: {
      "A.sol": { content: "contract A {} contract AB {}" },
      "B.sol": { content: "library B { } contract B$1 {}" },
    },
  };
  assert.deepEqual(declarationOf("x:y:A", { sources: { "x:y": { content: "" } } }), { file: "x:y", name: "A" });
  assert.deepEqual(declarationOf("A", input), { file: "A.sol", name: "A" });
  assert.deepEqual(declarationOf("B$1", input), { file: "B.sol", name: "B$1" });
  for (const contract of ["x".repeat(2000), "C", "C.sol:A", "", "A.sol:", "(.*", "constructor"]) {
    assert.throws(() => declarationOf(contract, input), REJECTION);
  }
  const twice = { sources: { "A.sol": { content: "contract A {}" }, "B.sol": { content: "contract A {}" } } };
  assert.throws(() => declarationOf("A", twice), REJECTION);
});

const codeOf = (hex: `0x${string}`, placeholders: readonly (readonly [number, number])[] = []) => ({
  bytes: hexToBytes(hex),
  placeholders,
  sourceMap: undefined,
});
const contract: Contract = {
  name: "A",
  abi: [],
  creation: codeOf("0x600100", [[2, 1]]),
  runtime: codeOf("0x600000", [[2, 1]]),
};

test("matchOf leaves out immutables, and rejects other code and contracts without any", () => {
  assert.equal(matchOf(hexToBytes("0x600007"), contract), "exact");
  assert.throws(() => matchOf(hexToBytes("0x600107"), contract), REJECTION);
  assert.throws(() => matchOf(hexToBytes("0x600007"), { ...contract, runtime: codeOf("0x") }), REJECTION);
});

test("constructorArguments are what follows the code; others that are claimed are rejected", () => {
  assert.equal(constructorArguments("0x60010907ff", contract, undefined), "0x07ff");
  assert.equal(constructorArguments("0x60010907ff", contract, "0x07ff"), "0x07ff");
  assert.throws(() => constructorArguments("0x60010907ff", contract, "0x07"), REJECTION);
  // A factory, or other code: nothing is known of the arguments.
  assert.equal(constructorArguments("0x610109", contract, "0x07"), undefined);
});
