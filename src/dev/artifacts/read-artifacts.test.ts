import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { bytesToHex, hexToBytes } from "../../primitives/hex.ts";
import { keccak256 } from "../../primitives/keccak.ts";
import { readArtifacts } from "./read-artifacts.ts";

const project = mkdtempSync(join(tmpdir(), "artifacts-"));
after(() => rmSync(project, { recursive: true }));

const hashOf = (text: string) => bytesToHex(keccak256(Buffer.from(text)));
const CODE = "0x6001600155";

test("a contract of Foundry has the sources of the project that it was compiled from, and no other file", () => {
  mkdirSync(join(project, "src"));
  mkdirSync(join(project, "out/A.sol"), { recursive: true });
  writeFileSync(join(project, "src/A.sol"), "contract A {}");
  writeFileSync(join(project, "src/Base.sol"), "contract Base {}");
  writeFileSync(join(project, "src/Changed.sol"), "contract Changed { uint since; }");
  writeFileSync(join(project, "secret"), "secret");
  const sources = {
    "src/Base.sol": { keccak256: hashOf("contract Base {}") },
    "src/A.sol": { keccak256: hashOf("contract A {}") },
    "src/Changed.sol": { keccak256: hashOf("contract Changed {}") },
    "src/Gone.sol": { keccak256: hashOf("") },
    secret: {},
    "src/../secret": { keccak256: hashOf("another text") },
  };
  const artifact = {
    abi: [],
    bytecode: { object: CODE },
    deployedBytecode: { object: CODE },
    metadata: { settings: { compilationTarget: { "src/A.sol": "A" } }, sources },
  };
  writeFileSync(join(project, "out/A.sol/A.json"), JSON.stringify(artifact));
  const contract = readArtifacts(join(project, "out")).withRuntime(hexToBytes(CODE));
  assert.equal(contract?.name, "A");
  assert.deepEqual(Object.entries(contract?.sources?.() ?? {}), [
    ["src/A.sol", "contract A {}"],
    ["src/Base.sol", "contract Base {}"],
  ]);
});

test("a contract of a build-info has the sources of its input, its own first", () => {
  const folder = join(project, "build");
  mkdirSync(folder);
  const input = { language: "Solidity", sources: { "B.sol": { content: "b" }, "A.sol": { content: "a" } } };
  const contracts = { "A.sol": { A: { abi: [], evm: { deployedBytecode: { object: CODE.slice(2) } } } } };
  writeFileSync(join(folder, "1.json"), JSON.stringify({ input, output: { contracts } }));
  const contract = readArtifacts(folder).withRuntime(hexToBytes(CODE));
  assert.deepEqual(Object.entries(contract?.sources?.() ?? {}), [
    ["A.sol", "a"],
    ["B.sol", "b"],
  ]);
});
