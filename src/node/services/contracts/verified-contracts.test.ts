import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { STRICT_LOGGER } from "../../../../test/support/base/telemetry/strict-logger.ts";
import { HOSTILE_CONTENTS, HOSTILE_FILES } from "../../../../test/support/store/storage/hostile-files.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import {
  filesInFolder,
  filesInMemory,
  VERIFIED_CONTRACT_LIMITS,
  type VerifiedContract,
  VerifiedContracts,
} from "./verified-contracts.ts";

const folder = mkdtempSync(join(tmpdir(), "verified-"));
after(() => rmSync(folder, { recursive: true }));

const code = hexToBytes("0x6001600155");
const input = { language: "Solidity", sources: { "A.sol": { content: "contract A {}" } }, settings: {} };

const contractOf = (deployed: Uint8Array, changes: Partial<VerifiedContract> = {}): VerifiedContract => ({
  codeHash: keccak256Hash(deployed),
  address: `0x${"aa".repeat(20)}` as Address,
  name: "A",
  file: "A.sol",
  compilerVersion: "0.8.37+commit.f401782d",
  match: "exact",
  compiled: {
    abi: [{ type: "function", name: "f" }],
    evm: {
      deployedBytecode: {
        object: "6000600155",
        immutableReferences: { "1": [{ start: 1, length: 1 }] },
      },
    },
  },
  constructorArguments: "0x07",
  ...changes,
});

/** `files`, with the names of those that are read in `read`. */
function reading(files: ReturnType<typeof filesInMemory>, read: string[]): typeof files {
  return {
    ...files,
    read(name, bytesMax) {
      read.push(name);
      return files.read(name, bytesMax);
    },
  };
}

test("VerifiedContracts finds a contract by its code, and by code with other immutables, over a restart", () => {
  const home = join(folder, "restart");
  new VerifiedContracts(filesInFolder(home), STRICT_LOGGER).store(contractOf(code), input);
  const verified = new VerifiedContracts(filesInFolder(home), STRICT_LOGGER);
  const found = verified.find(keccak256Hash(code), code);
  assert.deepEqual(found, contractOf(code));
  assert.deepEqual(verified.input(found!), input);
  const similar = hexToBytes("0x6009600155");
  const other = verified.find(keccak256Hash(similar), similar);
  // The arguments are those of the other creation.
  assert.deepEqual(other, contractOf(code, { constructorArguments: null }));
  const different = hexToBytes("0x6009600255");
  assert.equal(verified.find(keccak256Hash(different), different), undefined);
});

test("VerifiedContracts takes code with other metadata for verified at that code alone", () => {
  const verified = new VerifiedContracts(filesInMemory(), STRICT_LOGGER);
  verified.store(contractOf(code, { match: "same instructions" }), input);
  assert.equal(verified.find(keccak256Hash(code), code)?.match, "same instructions");
  const similar = hexToBytes("0x6009600155");
  assert.equal(verified.find(keccak256Hash(similar), similar), undefined);
});

test("VerifiedContracts passes over files that somebody damaged", () => {
  const home = join(folder, "damage");
  const stored = new VerifiedContracts(filesInFolder(home), STRICT_LOGGER);
  stored.store(contractOf(code), input);
  const [facts] = readdirSync(home).filter((name) => !name.includes("input"));
  for (const text of ["", "{", "[]", "null", "{}", JSON.stringify({ ...contractOf(code), match: "different" })]) {
    writeFileSync(join(home, facts!), text);
    const verified = new VerifiedContracts(filesInFolder(home), STRICT_LOGGER);
    assert.deepEqual([...verified.all], [], text);
  }
});

test("VerifiedContracts rejects more contracts than its limit", () => {
  const verified = new VerifiedContracts(filesInMemory(), STRICT_LOGGER);
  for (let i = 0; i < VERIFIED_CONTRACT_LIMITS.contractsMax; i++) {
    verified.store(contractOf(Uint8Array.of(i >> 8, i & 255)), input);
  }
  assert.throws(() => verified.store(contractOf(Uint8Array.of(1, 2, 3)), input), { code: "CONTRACT_VERIFICATION" });
  assert.equal([...verified.all].length, VERIFIED_CONTRACT_LIMITS.contractsMax);
});

test("VerifiedContracts keeps the first source of a code until one matches it exactly, and reads no file again", () => {
  const files = filesInMemory();
  const read: string[] = [];
  const verified = new VerifiedContracts(reading(files, read), STRICT_LOGGER);
  const same = (name: string) => contractOf(code, { name, match: "same instructions" });
  const sourceOf = (content: string) => ({ ...input, sources: { "A.sol": { content } } });
  verified.store(same("First"), sourceOf("// é"));
  assert.throws(() => verified.store(same("Second"), sourceOf("")), { code: "CONTRACT_VERIFICATION" });
  assert.equal(verified.find(keccak256Hash(code), code)?.name, "First");
  verified.store(contractOf(code, { name: "Exact" }), sourceOf("exact"));
  assert.throws(() => verified.store(contractOf(code, { name: "Late" }), sourceOf("")), {
    code: "CONTRACT_VERIFICATION",
  });
  const found = verified.find(keccak256Hash(code), code);
  assert.equal(found?.name, "Exact");
  assert.equal([...verified.all].length, 1);
  const similar = hexToBytes("0x6009600155");
  assert.equal(verified.find(keccak256Hash(similar), similar)?.name, "Exact");
  assert.deepEqual(read, []);
  assert.deepEqual(verified.input(found!), sourceOf("exact"));
});

test("VerifiedContracts counts bytes of sources as files have them, and reads none of them at its first use", () => {
  const name = `${keccak256Hash(code)}.input.json`;
  const size = VERIFIED_CONTRACT_LIMITS.sourcesBytesMax - 2_000;
  const files = filesInMemory();
  new VerifiedContracts(files, STRICT_LOGGER).store(contractOf(code), input);
  const read: string[] = [];
  const counted = {
    ...reading(files, read),
    size: (each: string) => (each === name ? size : files.size(each)),
  };
  const verified = new VerifiedContracts(counted, STRICT_LOGGER);
  // 1,000 characters are 3,000 bytes.
  const wide = { ...input, sources: { "A.sol": { content: "€".repeat(1_000) } } };
  assert.throws(() => verified.store(contractOf(Uint8Array.of(1)), wide), { code: "CONTRACT_VERIFICATION" });
  verified.store(contractOf(Uint8Array.of(1)), input);
  assert(!read.includes(name), read.join());
});

test("VerifiedContracts passes over what is no file, and gives no source of one that somebody damaged", {
  skip: process.platform === "win32" && "there are no such files",
}, () => {
  const hash = keccak256Hash(code);
  for (const [what, make] of Object.entries(HOSTILE_FILES)) {
    const home = join(folder, what);
    const stored = new VerifiedContracts(filesInFolder(home), STRICT_LOGGER);
    stored.store(contractOf(code), input);
    for (const name of [`${hash}.input.json`, `${hash}.json`]) {
      rmSync(join(home, name));
      make(join(home, name));
      assert.equal(stored.input(contractOf(code)), undefined, what);
    }
    assert.deepEqual([...new VerifiedContracts(filesInFolder(home), STRICT_LOGGER).all], [], what);
  }
  for (const [what, content] of Object.entries(HOSTILE_CONTENTS)) {
    const home = join(folder, `content ${what}`);
    const verified = new VerifiedContracts(filesInFolder(home), STRICT_LOGGER);
    verified.store(contractOf(code), input);
    for (const name of [`${hash}.input.json`, `${hash}.json`]) writeFileSync(join(home, name), content);
    assert.equal(verified.input(contractOf(code)), undefined, what);
    assert.deepEqual([...new VerifiedContracts(filesInFolder(home), STRICT_LOGGER).all], [], what);
  }
});

test("VerifiedContracts rejects an ABI that is too large", () => {
  const verified = new VerifiedContracts(filesInMemory(), STRICT_LOGGER);
  const { compiled } = contractOf(code);
  const abi = [{ name: "x".repeat(VERIFIED_CONTRACT_LIMITS.abiBytesMax) }];
  assert.throws(() => verified.store(contractOf(code, { compiled: { ...compiled, abi } }), input), {
    code: "CONTRACT_VERIFICATION",
  });
});
