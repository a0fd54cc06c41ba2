import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { bytesToBigint } from "../primitives/bytes.ts";
import { modExp } from "./modexp.ts";

/** Exponent by exponent, as the definition has it. */
function naive(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n % modulus;
  for (let i = 0n; i < exponent; i++) result = (result * base) % modulus;
  return result;
}

const bytes = (length: number, byte: number) => new Uint8Array(length).fill(byte);

/** How often `modExp` of numbers of so many bytes calls its checkpoint. */
function checkpointsOf(length: number, exponent: Uint8Array): number {
  const number = bytesToBigint(bytes(length, 0xfb));
  let checkpoints = 0;
  modExp(number - 2n, exponent, number, () => void checkpoints++);
  return checkpoints;
}

describe("modExp", () => {
  test("is repeated multiplication", () => {
    const number = fc.bigInt({ min: 0n, max: 2n ** 80n });
    fc.assert(
      fc.property(
        number,
        fc.integer({ min: 0, max: 300 }),
        number.map((m) => m + 1n),
        (base, exponent, modulus) => {
          const big = new Uint8Array([exponent >> 8, exponent & 255]);
          assert.equal(modExp(base, big, modulus), naive(base, BigInt(exponent), modulus));
        },
      ),
    );
  });

  for (const [baseLength, modulusLength] of [
    [40_000, 40_000],
    [100_000, 100_000],
    [100_000, 36_000],
    [100_000, 32],
    [10, 60_000],
  ] as const) {
    test(`of ${baseLength} bytes modulo ${modulusLength} bytes is that of whole multiplications`, () => {
      const base = bytesToBigint(bytes(baseLength, 0xd7));
      const modulus = bytesToBigint(bytes(modulusLength, 0xfb));
      assert.equal(modExp(base, new Uint8Array([5]), modulus), naive(base, 5n, modulus));
    });
  }

  test("has a checkpoint in each of the nine parts that a multiplication of 100 KB, of some 100 ms, is made of", () => {
    // Two squarings and a multiplication, besides the reduction of the base.
    assert.ok(checkpointsOf(100_000, new Uint8Array([5])) >= 3 * 9);
  });

  test("has a checkpoint after each multiplication of shorter numbers", () => {
    // A squaring for each bit, and a multiplication for each four.
    assert.ok(checkpointsOf(3_000, bytes(40, 0xff)) >= 40 * 8 * 1.25);
    assert.ok(checkpointsOf(3_000, bytes(2, 0xff)) >= 2 * 15);
  });

  for (const [length, exponentLength] of [
    [100_000, 1],
    [100_000, 40],
    [20_000, 40],
  ] as const) {
    test(`ends with what its checkpoint throws, at ${length} bytes with an exponent of ${exponentLength}`, () => {
      const number = bytesToBigint(bytes(length, 0xfb));
      class Stop extends Error {}
      let checks = 0;
      const stopping = () => {
        if (++checks === 20) throw new Stop();
      };
      assert.throws(() => modExp(number - 2n, bytes(exponentLength, 0xff), number, stopping), Stop);
      assert.equal(checks, 20);
    });
  }
});
