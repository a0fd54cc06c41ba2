import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { DEFAULT_BLOB_SCHEDULE } from "./blob-schedule.ts";
import { blobBaseFee, fakeExponential, nextBaseFee, nextExcessBlobGas } from "./fees.ts";
import { GAS_PER_BLOB } from "./gas.ts";

const cancun = DEFAULT_BLOB_SCHEDULE["cancun"]!;
const osaka = DEFAULT_BLOB_SCHEDULE["osaka"]!;

test("nextBaseFee follows the examples of EIP-1559's reference implementations", () => {
  for (const [gasLimit, gasUsed, expected] of [
    [20_000_000n, 10_000_000n, 1_000_000_000n],
    [20_000_000n, 9_000_000n, 987_500_000n],
    [20_000_000n, 11_000_000n, 1_012_500_000n],
    [20_000_000n, 20_000_000n, 1_125_000_000n],
    [20_000_000n, 0n, 875_000_000n],
  ] as const) {
    assert.equal(nextBaseFee({ gasLimit, gasUsed, baseFeePerGas: 1_000_000_000n }, {}), expected);
  }
  assert.equal(nextBaseFee({ gasLimit: 20_000_000n, gasUsed: 1n }, {}), 1_000_000_000n);
  // A rise is at least 1 wei, a fall may be nothing.
  assert.equal(nextBaseFee({ gasLimit: 20n, gasUsed: 11n, baseFeePerGas: 0n }, {}), 1n);
  assert.equal(nextBaseFee({ gasLimit: 20n, gasUsed: 0n, baseFeePerGas: 7n }, {}), 7n);
});

test("nextBaseFee is 0 where the chain has none, after any block", () => {
  for (const baseFeePerGas of [undefined, 0n, 7n]) {
    const parent = { gasLimit: 20n, gasUsed: 20n, ...(baseFeePerGas !== undefined && { baseFeePerGas }) };
    assert.equal(nextBaseFee(parent, { zeroBaseFee: true }), 0n);
  }
});

test("nextBaseFee moves by an eighth at most and never below 0", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 24n }),
      fc.bigInt({ min: 5000n, max: 10n ** 9n }),
      fc.nat(1_000_000),
      (baseFeePerGas, gasLimit, ppm) => {
        const gasUsed = (gasLimit * BigInt(ppm)) / 1_000_000n;
        const next = nextBaseFee({ gasLimit, gasUsed, baseFeePerGas }, {});
        assert.ok(next >= baseFeePerGas - baseFeePerGas / 8n);
        // An odd gas limit has a target rounded down, so a full block is a little more than twice of it.
        assert.ok(next <= baseFeePerGas + baseFeePerGas / 8n + baseFeePerGas / 1000n + 1n);
      },
    ),
  );
});

test("fakeExponential gives the examples of EIP-4844's reference tests", () => {
  for (const [factor, numerator, denominator, expected] of [
    [1n, 0n, 1n, 1n],
    [38_493n, 0n, 1000n, 38_493n],
    [0n, 1234n, 2345n, 0n],
    [1n, 2n, 1n, 6n],
    [1n, 4n, 2n, 6n],
    [1n, 3n, 1n, 16n],
    [1n, 6n, 2n, 18n],
    [1n, 4n, 1n, 49n],
    [1n, 8n, 2n, 50n],
    [10n, 8n, 2n, 542n],
    [11n, 8n, 2n, 596n],
    [1n, 5n, 1n, 136n],
    [1n, 5n, 2n, 11n],
    [2n, 5n, 2n, 23n],
    [1n, 50_000_000n, 2_225_652n, 5_709_098_764n],
    [1n, 380_928n, 3_338_477n, 1n],
  ] as const) {
    assert.equal(fakeExponential(factor, numerator, denominator), expected);
  }
});

test("blobBaseFee is 1 wei until the excess weighs in", () => {
  assert.equal(blobBaseFee(0n, cancun), 1n);
  assert.equal(blobBaseFee(2_314_057n, cancun), 1n);
  assert.equal(blobBaseFee(2_314_058n, cancun), 2n);
  assert.equal(blobBaseFee(10n * 1024n * 1024n, cancun), 23n);
});

test("nextExcessBlobGas keeps the blob gas above the target (EIP-4844)", () => {
  const after = (excessBlobGas: bigint, blobs: bigint) =>
    nextExcessBlobGas({ excessBlobGas, blobGasUsed: blobs * GAS_PER_BLOB }, cancun, false);
  assert.equal(after(0n, 0n), 0n);
  assert.equal(after(0n, 3n), 0n);
  assert.equal(after(0n, 4n), GAS_PER_BLOB);
  assert.equal(after(1n, 3n), 1n);
  assert.equal(after(3n * GAS_PER_BLOB, 0n), 0n);
  assert.equal(nextExcessBlobGas({}, cancun, false), 0n);
});

test("nextExcessBlobGas holds the blob fee up while execution gas dominates it (EIP-7918)", () => {
  const parent = {
    excessBlobGas: 10n * GAS_PER_BLOB,
    blobGasUsed: 9n * GAS_PER_BLOB,
    baseFeePerGas: 10n ** 9n,
  };
  assert.equal(nextExcessBlobGas(parent, osaka, false), 13n * GAS_PER_BLOB);
  assert.equal(nextExcessBlobGas(parent, osaka, true), 13n * GAS_PER_BLOB);
  const idle = { ...parent, blobGasUsed: 0n };
  assert.equal(nextExcessBlobGas(idle, osaka, false), 4n * GAS_PER_BLOB);
  assert.equal(nextExcessBlobGas(idle, osaka, true), 10n * GAS_PER_BLOB);
  assert.equal(nextExcessBlobGas({ ...idle, baseFeePerGas: 1n }, osaka, true), 4n * GAS_PER_BLOB);
});
