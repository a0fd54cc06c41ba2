import assert from "node:assert/strict";
import { test } from "node:test";
import { testBlock, testMessage } from "../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import fc from "../../../test/support/fast-check.ts";
import type { Address } from "../../base/primitives/address.ts";
import { bytesToBigint, EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import { hexToBytes } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { createWorldState } from "../state/world-state.ts";
import { createEvm } from "./engine.ts";

/** Each opcode that computes, against bigint arithmetic. */

const MODULUS = 1n << 256n;
const signed = (word: bigint) => BigInt.asIntN(256, word);
const bool = (condition: boolean) => (condition ? 1n : 0n);

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % MODULUS;
    square = (square * square) % MODULUS;
  }
  return result;
}

function leadingZeros(word: bigint): bigint {
  return 256n - BigInt(word === 0n ? 0 : word.toString(2).length);
}

/** Operands in stack order, top first; the result before it is cut to 256 bits. */
const MEANINGS: Readonly<Record<string, (...operands: [bigint, bigint, bigint]) => bigint>> = {
  "01": (a, b) => a + b,
  "02": (a, b) => a * b,
  "03": (a, b) => a - b,
  "04": (a, b) => (b === 0n ? 0n : a / b),
  "05": (a, b) => (b === 0n ? 0n : signed(a) / signed(b)),
  "06": (a, b) => (b === 0n ? 0n : a % b),
  "07": (a, b) => (b === 0n ? 0n : signed(a) % signed(b)),
  "08": (a, b, m) => (m === 0n ? 0n : (a + b) % m),
  "09": (a, b, m) => (m === 0n ? 0n : (a * b) % m),
  "0a": power,
  "0b": (k, x) => (k > 30n ? x : BigInt.asIntN(Number(8n * k + 8n), x)),
  "10": (a, b) => bool(a < b),
  "11": (a, b) => bool(a > b),
  "12": (a, b) => bool(signed(a) < signed(b)),
  "13": (a, b) => bool(signed(a) > signed(b)),
  "14": (a, b) => bool(a === b),
  "15": (a) => bool(a === 0n),
  "16": (a, b) => a & b,
  "17": (a, b) => a | b,
  "18": (a, b) => a ^ b,
  "19": (a) => ~a,
  "1a": (i, x) => (i > 31n ? 0n : (x >> (8n * (31n - i))) & 0xffn),
  "1b": (n, x) => (n > 255n ? 0n : x << n),
  "1c": (n, x) => (n > 255n ? 0n : x >> n),
  "1d": (n, x) => signed(x) >> (n > 255n ? 255n : n),
  "1e": leadingZeros,
};

/** Words of every length, with long runs of equal bits, and neighbours of powers of two. */
const word = fc.oneof(
  fc.bigInt(0n, 300n),
  fc.bigInt(0n, MODULUS - 1n),
  fc
    .tuple(fc.integer({ min: 0, max: 255 }), fc.bigInt(-2n, 2n))
    .map(([bit, delta]) => BigInt.asUintN(256, (1n << BigInt(bit)) + delta)),
  fc
    .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 255 }))
    .map(([a, b]) => BigInt.asUintN(256, (1n << BigInt(a)) - (1n << BigInt(b)))),
);

const evm = createEvm();
const contract = `0x${"cc".repeat(20)}` as Address;

function evaluate(code: string, data = EMPTY_BYTES): bigint {
  const state = createWorldState(createMemoryState());
  const codeHash = state.putCode(hexToBytes(`0x${code}`));
  state.setAccount(contract, { nonce: 1n, balance: 0n, codeHash });
  const { outcome, returnData } = evm.execute(
    testMessage({ to: contract, data, gas: 10_000_000n }),
    testBlock(),
    state,
  );
  assert.equal(outcome, "success");
  return bytesToBigint(returnData);
}

const push = (value: bigint) => `7f${hashFromBigint(value).slice(2)}`;
const RETURN_TOP = "5f5260205ff3";

for (const [opcode, meaning] of Object.entries(MEANINGS)) {
  test(`opcode 0x${opcode} computes what bigints do`, () => {
    fc.assert(
      fc.property(word, word, word, (a, b, c) => {
        const result = evaluate(`${push(c)}${push(b)}${push(a)}${opcode}${RETURN_TOP}`);
        assert.equal(result, BigInt.asUintN(256, meaning(a, b, c)));
      }),
      { numRuns: 150, examples: [[MODULUS >> 1n, MODULUS - 1n, 0n]] },
    );
  });
}

test("DIV and MOD are right when divisors evict each other's cached reciprocals", () => {
  // More than there are slots: two with the same leading limb, and one with the same limbs shifted, of each length.
  const divisors = Array.from({ length: 48 }, (_, i) => {
    const lead = (0x9e3779b97f4a7c15n * BigInt(i >> 1) + 3n) % (1n << 64n);
    return (lead << BigInt(64 * (i % 4))) + BigInt(i) * (i % 4 === 0 ? 0n : 1n);
  });
  for (let turn = 0n; turn < 2n; turn++) {
    for (const divisor of divisors) {
      const numerator = MODULUS - 1n - turn * divisor;
      for (const opcode of ["04", "06"]) {
        const result = evaluate(`${push(divisor)}${push(numerator)}${opcode}${RETURN_TOP}`);
        assert.equal(result, MEANINGS[opcode]!(numerator, divisor, 0n), `${opcode} ${divisor}`);
      }
    }
  }
});

test("each PUSH leaves its immediate, with zeros where the code ends", () => {
  for (let size = 1; size <= 32; size++) {
    const bytes = Uint8Array.from({ length: size }, (_, i) => 0xf1 - i);
    const opcode = (0x5f + size).toString(16);
    const digits = Buffer.from(bytes).toString("hex");
    assert.equal(evaluate(`${opcode}${digits}${RETURN_TOP}`), bytesToBigint(bytes));
  }
});

test("each DUP and SWAP reaches its depth", () => {
  const stack = Array.from({ length: 17 }, (_, i) => `60${(i + 1).toString(16).padStart(2, "0")}`);
  for (let n = 1; n <= 16; n++) {
    const dup = (0x7f + n).toString(16);
    assert.equal(evaluate(`${stack.join("")}${dup}${RETURN_TOP}`), BigInt(18 - n));
    const swap = (0x8f + n).toString(16);
    assert.equal(evaluate(`${stack.join("")}${swap}${RETURN_TOP}`), BigInt(17 - n));
  }
});

test("KECCAK256 of 64 bytes is right whether it is remembered or not", () => {
  const pair = (first: bigint, second: bigint) =>
    hexToBytes(`0x${hashFromBigint(first).slice(2)}${hashFromBigint(second).slice(2)}`);
  const pairs = [pair(0n, 0n), pair(MODULUS - 1n, MODULUS - 1n)];
  // More than there are places, so that some drive out others.
  for (let i = 0n; i < 5_000n; i++) pairs.push(pair(i, i & 3n));
  for (let turn = 0; turn < 2; turn++) {
    for (const data of pairs) {
      assert.equal(evaluate(`365f5f37365f20${RETURN_TOP}`, data), bytesToBigint(keccak256(data)));
    }
  }
});

test("KECCAK256 hashes inputs of every length around the rate", () => {
  for (const size of [0, 1, 7, 8, 31, 32, 64, 127, 128, 135, 136, 137, 271, 272, 273, 1000]) {
    const data = Uint8Array.from({ length: size }, (_, i) => i * 7 + 1);
    assert.equal(evaluate(`365f5f37365f20${RETURN_TOP}`, data), bytesToBigint(keccak256(data)));
  }
});

test("CALLDATALOAD, CALLDATACOPY and CODECOPY read zeros past the end", () => {
  const data = Uint8Array.from({ length: 40 }, (_, i) => i + 1);
  const padded = Buffer.concat([data, Buffer.alloc(64)]);
  for (const offset of [0, 1, 8, 9, 39, 40, 41]) {
    const expected = bytesToBigint(padded.subarray(offset, offset + 32));
    const at = offset.toString(16).padStart(2, "0");
    assert.equal(evaluate(`60${at}35${RETURN_TOP}`, data), expected);
    assert.equal(evaluate(`602060${at}5f3760205ff3`, data), expected);
  }
  assert.equal(evaluate(`${push(MODULUS - 1n)}35${RETURN_TOP}`, data), 0n);
  assert.equal(evaluate(`6020${push(MODULUS - 1n)}5f3760205ff3`, data), 0n);
  assert.equal(evaluate("602060095f39 60205ff3".replace(" ", "")), 0xf3n << 248n);
});
