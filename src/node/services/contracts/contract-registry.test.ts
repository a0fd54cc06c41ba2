import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { STRICT_LOGGER } from "../../../../test/support/base/telemetry/strict-logger.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { type Hex, hexToBytes } from "../../../base/primitives/hex.ts";
import { Contracts } from "../../../dev/artifacts/contracts.ts";
import { contractOfHardhat } from "../../../dev/artifacts/parse-artifact.ts";
import type { Verification, VerificationRequest } from "../../../rpc/ports/contracts.ts";
import type { CompilerOutput } from "../../../rpc/ports/tools.ts";
import { CONTRACT_REGISTRY_LIMITS, ContractRegistry } from "./contract-registry.ts";
import { filesInMemory, VerifiedContracts } from "./verified-contracts.ts";

const A = `0x${"aa".repeat(20)}` as Address;
const B = `0x${"bb".repeat(20)}` as Address;
const EMPTY = `0x${"00".repeat(19)}01` as Address;
const OWN_CODE: Hex = "0x600160025500";
const VERSION = "0.8.37+commit.f401782d";

type Settings = {
  readonly codes?: Readonly<Record<string, Hex>>;
  readonly artifacts?: Contracts;
  readonly compile?: () => Promise<CompilerOutput>;
};

const output = (object: Hex): CompilerOutput => ({
  contracts: {
    "A.sol": {
      A: {
        abi: [],
        evm: { bytecode: { object: `60${object.slice(2)}` }, deployedBytecode: { object: object.slice(2) } },
      },
    },
  },
});

function registryOf({ codes = { [A]: OWN_CODE }, artifacts, compile = async () => output(OWN_CODE) }: Settings = {}) {
  const reported: unknown[] = [];
  const registry = new ContractRegistry({
    artifacts,
    verified: new VerifiedContracts(filesInMemory(), STRICT_LOGGER),
    compiler: { compilerVersion: async () => `${VERSION}.Emscripten.clang`, compile },
    chain: {
      // Block 0: nothing was created by a transaction.
      head: () => ({ header: { number: 0 } }) as never,
      code: ({ address }) => hexToBytes(codes[address] ?? "0x"),
    },
    execution: { traceBlock: () => [] },
    inspection: {
      dumpState: () => ({
        root: "0x" as never,
        next: undefined,
        accounts: Object.entries(codes).map(([address, code]) => ({ address, code: hexToBytes(code) })) as never,
      }),
    },
    failures: {
      guard:
        (_where, work) =>
        (...args) =>
          void (work(...args) as Promise<unknown>).catch((error) => reported.push(error)),
    },
  });
  return { registry, reported };
}

const REQUEST: VerificationRequest = {
  address: A,
  input: { language: "Solidity", sources: { "A.sol": { content: "contract A {}" } } },
  contract: "A.sol:A",
  compilerVersion: `v${VERSION}`,
  constructorArguments: undefined,
};

async function outcomeOf(registry: ContractRegistry, request = REQUEST): Promise<Verification> {
  const { id } = await registry.verify(request);
  for (;;) {
    const verification = await registry.verification({ id });
    if (verification?.kind !== "pending") return verification!;
    await setImmediate();
  }
}

test("a contract whose code the compiler makes is known from then on, at every address with that code", async () => {
  const { registry } = registryOf({ codes: { [A]: OWN_CODE, [B]: OWN_CODE } });
  assert.deepEqual(await outcomeOf(registry), { kind: "verified", match: "exact" });
  const known = await registry.known({ addresses: [A, B, EMPTY], withSources: true });
  assert.deepEqual(
    known.map((each) => each && [each.name, each.origin, each.compilerVersion, each.sources["A.sol"]]),
    [["A", "verified", VERSION, "contract A {}"], ["A", "verified", VERSION, "contract A {}"], undefined],
  );
  assert.deepEqual(await registry.find({ name: "a", countMax: 9 }), [{ address: A, name: "A", origin: "verified" }]);
  await assert.rejects(registry.verify(REQUEST), { code: "CONTRACT_VERIFICATION" });
});

const FAILURES: Readonly<Record<string, () => Promise<CompilerOutput>>> = {
  "other code": async () => output("0x600160035500"),
  "no such contract": async () => ({ contracts: { "A.sol": {} } }),
};

for (const [what, compile] of Object.entries(FAILURES)) {
  test(`a verification fails where the compiler makes ${what}, and nothing is known`, async () => {
    const { registry, reported } = registryOf({ compile });
    assert.equal((await outcomeOf(registry)).kind, "failed");
    assert.deepEqual(await registry.known({ addresses: [A], withSources: false }), [undefined]);
    assert.deepEqual(reported, []);
  });
}

test("a fault of the node fails the verification too, and is reported", async () => {
  const fault = new TypeError("bug");
  const { registry, reported } = registryOf({ compile: () => Promise.reject(fault) });
  assert.deepEqual(await outcomeOf(registry), { kind: "failed", reason: "the node failed" });
  assert.deepEqual(reported, [fault]);
});

test("what needs no compiling is rejected before it", async () => {
  const { registry } = registryOf({ compile: () => assert.fail("nothing is compiled") });
  for (const changes of [
    { address: EMPTY },
    { compilerVersion: "v0.8.1" },
    { contract: "B.sol:A" },
    { input: { language: "Vyper" } },
  ]) {
    await assert.rejects(registry.verify({ ...REQUEST, ...changes }), { code: "CONTRACT_VERIFICATION" });
  }
});

test("more verifications than the limit are put off, and places are free again afterwards", async () => {
  const ends: (() => void)[] = [];
  const compile = () => new Promise<CompilerOutput>((resolve) => ends.push(() => resolve(output("0x00"))));
  const { registry } = registryOf({ compile });
  const ids: string[] = [];
  for (let i = 0; i < CONTRACT_REGISTRY_LIMITS.pendingMax; i++) ids.push((await registry.verify(REQUEST)).id);
  await assert.rejects(registry.verify(REQUEST), { code: "RPC_COMPILER_BUSY" });
  for (const end of ends) end();
  await setImmediate();
  assert.equal((await registry.verification({ id: ids[0]! }))?.kind, "failed");
  await registry.verify(REQUEST);
});

test("outcomes are forgotten after so many others", async () => {
  const { registry } = registryOf({ compile: async () => output("0x00") });
  const { id } = await registry.verify(REQUEST);
  for (let i = 0; i < CONTRACT_REGISTRY_LIMITS.outcomesMax; i++) await outcomeOf(registry);
  assert.equal(await registry.verification({ id }), undefined);
});

test("contracts of artifacts are found by the beginning of their name where they are deployed", async () => {
  const artifacts = new Contracts();
  const artifact = (contractName: string, deployedBytecode: string) =>
    artifacts.add(contractOfHardhat({ contractName, abi: [], bytecode: "0x", deployedBytecode }));
  artifact("Token", OWN_CODE);
  artifact("TokenSale", "0x600160045500");
  artifact("Tokenless", "0x600160055500");
  const { registry } = registryOf({ codes: { [A]: "0x600160045500", [B]: OWN_CODE }, artifacts });
  const found = await registry.find({ name: "TOKEN", countMax: 9 });
  assert.deepEqual(found, [
    { address: B, name: "Token", origin: "artifacts" },
    { address: A, name: "TokenSale", origin: "artifacts" },
  ]);
  assert.equal((await registry.find({ name: "token", countMax: 1 })).length, 1);
  // Verified sources outweigh an artifact.
  const own = { ...REQUEST, address: B };
  assert.equal((await outcomeOf(registry, own)).kind, "verified");
  const [known] = await registry.known({ addresses: [B], withSources: false });
  assert.deepEqual([known?.name, known?.origin], ["A", "verified"]);
});
