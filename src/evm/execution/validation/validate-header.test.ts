import assert from "node:assert/strict";
import { test } from "node:test";
import { config, GWEI, headerOf, withoutLaterFields } from "../../../../test/support/evm/execution/factories.ts";
import { allForksAtGenesis } from "../../../base/params/blob-schedule.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import type { Header } from "../../../base/types/header.ts";
import type { InvalidBlockCode } from "../errors.ts";
import { validateHeader } from "./validate-header.ts";

const parent = headerOf({ gasUsed: 15_000_000n });
const child = headerOf({ number: 1, timestamp: 1_012 });

type Case = readonly [changes: Partial<Header>, code: InvalidBlockCode, text: string];

/** Each breaks one rule; the texts are geth's. */
const CASES: readonly Case[] = [
  [{ extraData: new Uint8Array(33) }, "BLOCK_EXTRA_DATA_TOO_BIG", "extra-data longer than 32 bytes (33)"],
  [{ nonce: new Uint8Array(8).fill(1) }, "BLOCK_INVALID_NONCE", "invalid nonce"],
  [{ sha3Uncles: ZERO_HASH }, "BLOCK_IMPORT_IMPOSSIBLE_UNCLES_OVER_PARIS", "invalid uncle hash"],
  [{ timestamp: 1_000 }, "BLOCK_INVALID_BLOCK_TIMESTAMP_OLDER_THAN_PARENT", "invalid timestamp"],
  [{ difficulty: 1n }, "BLOCK_INVALID_DIFFICULTY", "invalid difficulty: have 1, want 0"],
  [{ gasUsed: 30_000_001n }, "BLOCK_GAS_USED_OVERFLOW", "invalid gasUsed: have 30000001, gasLimit 30000000"],
  [{ number: 2 }, "BLOCK_INVALID_BLOCK_NUMBER", "invalid block number"],
  [{ gasLimit: 30_029_296n }, "BLOCK_INVALID_GASLIMIT", "invalid gas limit: have 30029296, want 30000000 +/- 29295"],
  [
    { baseFeePerGas: 5n },
    "BLOCK_INVALID_BASEFEE_PER_GAS",
    "invalid baseFee: have 5, want 1000000000, parentBaseFee 1000000000, parentGasUsed 15000000",
  ],
  [
    { blobGasUsed: 10n * 131_072n },
    "BLOCK_BLOB_GAS_USED_ABOVE_LIMIT",
    "blob gas used 1310720 exceeds maximum allowance 1179648",
  ],
  [{ blobGasUsed: 1n }, "BLOCK_INCORRECT_BLOB_GAS_USED", "blob gas used 1 not a multiple of blob gas per blob 131072"],
  [{ excessBlobGas: 1n }, "BLOCK_INCORRECT_EXCESS_BLOB_GAS", "invalid excessBlobGas: have 1, want 0"],
];

for (const [changes, code, message] of CASES) {
  test(`validateHeader refuses: ${message}`, () => {
    const validate = () => validateHeader({ ...child, ...changes }, parent, config);
    assert.throws(validate, { code, message });
  });
}

test("validateHeader accepts a header that breaks no rule", () => {
  validateHeader(child, parent, config);
});

test("validateHeader accepts the parent's own time where the chain allows it, never an earlier one", () => {
  const rules = { isEqualTimeAllowed: true };
  validateHeader({ ...child, timestamp: 1_000 }, parent, config, rules);
  assert.throws(() => validateHeader({ ...child, timestamp: 999 }, parent, config, rules), {
    code: "BLOCK_INVALID_BLOCK_TIMESTAMP_OLDER_THAN_PARENT",
  });
});

test("validateHeader wants each field exactly from its fork on", () => {
  for (const field of [
    "baseFeePerGas",
    "withdrawalsRoot",
    "blobGasUsed",
    "excessBlobGas",
    "parentBeaconBlockRoot",
    "requestsHash",
  ] as const) {
    const { [field]: _, ...without } = child;
    assert.throws(() => validateHeader(without, parent, config), {
      code: "BLOCK_INCORRECT_BLOCK_FORMAT",
    });
  }
  const { osakaTime: _1, pragueTime: _2, cancunTime: _3, ...shanghai } = config;
  assert.throws(() => validateHeader(child, parent, shanghai), {
    code: "BLOCK_INCORRECT_BLOCK_FORMAT",
  });
});

test("validateHeader doubles the gas limit at the first London block", () => {
  const { terminalTotalDifficulty: _, ...proofOfWork } = allForksAtGenesis(1n);
  const chain = { ...proofOfWork, londonBlock: 1 };
  const before = { ...withoutLaterFields(headerOf()), difficulty: 131_072n };
  const first = {
    ...withoutLaterFields(child),
    difficulty: 131_072n,
    gasLimit: 60_000_000n,
    baseFeePerGas: GWEI,
  };
  validateHeader(first, before, chain);
  assert.throws(() => validateHeader({ ...first, gasLimit: 30_000_000n }, before, chain), {
    code: "BLOCK_INVALID_GASLIMIT",
  });
});

test("validateHeader takes no block without difficulty on a chain that has no merge", () => {
  const { terminalTotalDifficulty: _, ...proofOfWork } = config;
  assert.throws(() => validateHeader(child, { ...parent, difficulty: 131_072n }, proofOfWork), {
    code: "BLOCK_INVALID_DIFFICULTY",
  });
});

test("validateHeader wants a base fee of 0 on a chain without one, whatever the parent's is", () => {
  const free = { ...config, zeroBaseFee: true };
  validateHeader({ ...child, baseFeePerGas: 0n }, parent, free);
  const validate = () => validateHeader(child, parent, free);
  assert.throws(validate, { code: "BLOCK_INVALID_BASEFEE_PER_GAS" });
});
