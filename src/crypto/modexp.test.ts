import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../../test/support/fast-check.ts";
import { bytesToBigint } from "../primitives/bytes.ts";
import { modExp } from "./modexp.ts";

/** Exponent by exponent, as the definition has it. */
function naive(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n % modulus;
  for (let i = 0n; i < exponent; i++) result = (result * base) % modulus;
  return result;
}

const bytes = (length: number, byte: number) => new Uint8Array(length).fill(byte);

/** The most CPU milliseconds between two checkpoints, by the CPU's time: other processes do not add to it. */
function longestStretch(run: (checkpoint: () => void) => void): number {
  const cpuMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  let last = cpuMs();
  let longest = 0;
  const look = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  run(look);
  look();
  return longest;
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

  for (const [length, exponentLength] of [
    [100_000, 1],
    [100_000, 40],
    [20_000, 40],
  ] as const) {
    test(`looks at its deadline while it works on ${length} bytes with an exponent of ${exponentLength}`, () => {
      const number = bytesToBigint(bytes(length, 0xfb));
      class Stop extends Error {}
      const stretchOfRun = () => {
        let checks = 0;
        return longestStretch((look) =>
          assert.throws(
            () =>
              modExp(number - 2n, bytes(exponentLength, 0xff), number, () => {
                look();
                if (++checks === 20) throw new Stop();
              }),
            Stop,
          ),
        );
      };
      // Of three: V8 compiles and collects garbage at the same time.
      const stretch = Math.min(stretchOfRun(), stretchOfRun(), stretchOfRun());
      // A whole multiplication of 100 KB takes some 100 ms, and a byte of the exponent ten of them.
      assert.ok(stretch < 80, `${stretch} ms`);
    });
  }
});
