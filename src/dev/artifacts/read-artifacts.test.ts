import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { HOSTILE_CONTENTS, HOSTILE_FILES } from "../../../test/support/store/storage/hostile-files.ts";
import { bytesToHex, hexToBytes } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { Contracts } from "./contracts.ts";
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
  const contract = readArtifacts(join(project, "out"), assert.fail).withRuntime(hexToBytes(CODE));
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
  const contract = readArtifacts(folder, assert.fail).withRuntime(hexToBytes(CODE));
  assert.deepEqual(Object.entries(contract?.sources?.() ?? {}), [
    ["A.sol", "a"],
    ["B.sol", "b"],
  ]);
});

/** A Foundry artifact, a Hardhat artifact and a build-info, each with a part that `part` replaces. */
const shapesWith = (part: (place: string, usual: unknown) => unknown): readonly object[] => {
  const code = {
    object: part("object", CODE),
    sourceMap: part("sourceMap", ""),
    immutableReferences: part("immutableReferences", {}),
    linkReferences: part("linkReferences", {}),
  };
  const inputs = part("inputs", [{ type: part("type of an input", "uint256"), components: part("components", []) }]);
  const abi = part("abi", [part("item", { type: part("type", "function"), name: part("name", "f"), inputs })]);
  const [bytecode, deployedBytecode] = [part("bytecode", code), part("deployedBytecode", code)];
  const settings = part("settings", { compilationTarget: part("compilationTarget", { "a.sol": "A" }) });
  const metadata = part("metadata", { settings, sources: part("sources", {}) });
  const contract = part("contract", { abi, evm: part("evm", { bytecode, deployedBytecode }) });
  const sources = part("sources of the output", { "a.sol": { id: part("id", 0) } });
  const input = part("input", { sources: part("sources of the input", { "a.sol": { content: part("content", "") } }) });
  return [
    { abi, bytecode, deployedBytecode, metadata, id: part("id", 0) },
    { contractName: "A", abi, bytecode: part("bytecode", CODE), deployedBytecode: part("deployedBytecode", CODE) },
    { input, output: { contracts: part("contracts", { "a.sol": part("file", { A: contract }) }), sources } },
  ];
};

/** Text of tuples in each other, which `JSON.stringify` cannot write. */
const NESTED = `${'[{"type":"tuple","components":'.repeat(6_000)}[]${"}]".repeat(6_000)}`;

const ODD_VALUES: readonly unknown[] = [
  null,
  7,
  "text",
  [null],
  { a: null },
  { a: [null] },
  { a: { a: [{}] } },
  "nested",
];

test("readArtifacts takes or passes over every wrong value at every place, and reads the contract beside it", () => {
  const places = new Set<string>();
  shapesWith((place, usual) => {
    places.add(place);
    return usual;
  });
  assert(places.size > 20);
  const folder = join(project, "odd");
  mkdirSync(folder);
  const [, good] = shapesWith((_place, usual) => usual);
  writeFileSync(
    join(folder, "good.json"),
    JSON.stringify({ ...good, contractName: "Good", deployedBytecode: "0x6001" }),
  );
  let passedOver = 0;
  for (const place of places) {
    for (const value of ODD_VALUES) {
      const shapes = shapesWith((each, usual) => (each === place ? value : usual));
      for (const [i, shape] of shapes.entries())
        writeFileSync(join(folder, `odd-${i}.json`), JSON.stringify(shape).replaceAll('"nested"', NESTED));
      const contracts = readArtifacts(folder, (file) => {
        assert.match(file, /odd-\d\.json$/);
        passedOver++;
      });
      assert.equal(
        contracts.withRuntime(hexToBytes("0x6001"))?.name,
        "Good",
        `${place}: ${JSON.stringify(value).slice(0, 50)}`,
      );
      for (const { sources } of contracts.all) sources?.();
    }
  }
  assert(passedOver > 2 * places.size, `${passedOver} of ${places.size} places`);
});

test("readArtifacts passes over what is no file and what is no artifact, and names what cannot be read", {
  skip: process.platform === "win32" && "there are no such files",
}, () => {
  const folder = join(project, "hostile");
  mkdirSync(folder);
  for (const [what, make] of Object.entries(HOSTILE_FILES)) make(join(folder, `${what}.json`));
  for (const [what, content] of Object.entries(HOSTILE_CONTENTS))
    writeFileSync(join(folder, `${what}.txt.json`), content);
  const named: string[] = [];
  const contracts = readArtifacts(folder, (file) => named.push(basename(file, ".json")));
  assert.equal(contracts.size, 0);
  assert.deepEqual(named, [
    "a sparse file of 8 TiB",
    "bytes that are not UTF-8.txt",
    "half of an object.txt",
    "nothing.txt",
    "the beginning of a gzip.txt",
  ]);
});

test("a source that an artifact names is read if it is a regular file alone", {
  skip: process.platform === "win32" && "there are no such files",
}, () => {
  HOSTILE_FILES["a FIFO"]!(join(project, "fifo"));
  const folder = join(project, "fifo-out");
  mkdirSync(folder);
  const metadata = {
    settings: { compilationTarget: { fifo: "A" } },
    sources: { fifo: { keccak256: hashOf("") }, "../../../../../../dev/zero": { keccak256: hashOf("") } },
  };
  const code = { object: CODE, sourceMap: "0:1:0" };
  writeFileSync(
    join(folder, "A.json"),
    JSON.stringify({ id: 0, abi: [], bytecode: code, deployedBytecode: code, metadata }),
  );
  const [contract] = readArtifacts(folder, assert.fail).all;
  assert.deepEqual(contract?.sources?.(), {});
  assert.equal(contract?.runtime.sourceMap?.source(0), undefined);
});

test("Contracts holds many contracts of one length", () => {
  const contracts = new Contracts();
  const runtime = { bytes: hexToBytes("0x6001"), placeholders: [], sourceMap: undefined };
  for (let i = 0; i < 50_000; i++) contracts.add({ name: `C${i}`, abi: [], creation: runtime, runtime });
  assert.equal(contracts.withRuntime(hexToBytes("0x6001"))?.name, "C0");
});
