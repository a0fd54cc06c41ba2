import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Address } from "../../primitives/address.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { STRICT_LOGGER } from "../../telemetry/testing/strict-logger.ts";
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

test("VerifiedContracts rejects more contracts than its limit, and replaces one with the same code", () => {
  const files = filesInMemory();
  const verified = new VerifiedContracts(files, STRICT_LOGGER);
  for (let i = 0; i < VERIFIED_CONTRACT_LIMITS.contractsMax; i++) {
    verified.store(contractOf(Uint8Array.of(i >> 8, i & 255)), input);
  }
  assert.throws(() => verified.store(contractOf(Uint8Array.of(1, 2, 3)), input), { code: "CONTRACT_VERIFICATION" });
  const first = contractOf(Uint8Array.of(0, 0), { name: "B" });
  verified.store(first, input);
  assert.equal(verified.find(first.codeHash, Uint8Array.of(0, 0))?.name, "B");
  assert.equal([...verified.all].length, VERIFIED_CONTRACT_LIMITS.contractsMax);
});

test("VerifiedContracts rejects an ABI that is too large", () => {
  const verified = new VerifiedContracts(filesInMemory(), STRICT_LOGGER);
  const { compiled } = contractOf(code);
  const abi = [{ name: "x".repeat(VERIFIED_CONTRACT_LIMITS.abiBytesMax) }];
  assert.throws(() => verified.store(contractOf(code, { compiled: { ...compiled, abi } }), input), {
    code: "CONTRACT_VERIFICATION",
  });
});
