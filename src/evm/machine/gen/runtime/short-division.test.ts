import assert from "node:assert/strict";
import { test } from "node:test";
import { createRandom } from "../../../../../test/fuzz/random.ts";
import { ModuleBuilder } from "../../../../base/wasm/module.ts";
import { limbsOf } from "../compiled/limbs.ts";
import { defineShortDivision, knownDivisor, type ShortDivision } from "./short-division.ts";

const CASES = 10_000;
const MODULUS = 1n << 256n;
const FUNCTIONS = ["quotientByLimb", "remainderByLimb", "quotientByPair", "remainderByPair"] as const;

const module = instantiate();

function instantiate(): Record<ShortDivision, (...operands: bigint[]) => bigint | bigint[]> {
  const builder = new ModuleBuilder();
  for (const which of FUNCTIONS) builder.export(which, defineShortDivision(builder, which));
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(builder.bytes()), { host: { memory } });
  return exports as ReturnType<typeof instantiate>;
}

function divide(which: "quotient" | "remainder", numerator: bigint, divisor: bigint): bigint {
  const { isPair, operands } = knownDivisor(divisor);
  const results = [module[`${which}By${isPair ? "Pair" : "Limb"}`](...limbsOf(numerator), ...operands)].flat();
  return results.reduceRight((sum, limb) => (sum << 64n) | BigInt.asUintN(64, limb), 0n);
}

function check(numerator: bigint, divisor: bigint): void {
  const name = `${numerator} / ${divisor}`;
  assert.equal(divide("quotient", numerator, divisor), numerator / divisor, name);
  assert.equal(divide("remainder", numerator, divisor), numerator % divisor, name);
}

/** Numbers of every length, with runs of equal bits: they make estimates of quotients wrong. */
function randomNumber(random: ReturnType<typeof createRandom>, bits: number): bigint {
  let value = 0n;
  for (let at = 0; at < bits; ) {
    const length = random.int(random.chance(0.5) ? 64 : 8) + 1;
    const run = random.weighted([
      [1, 0n],
      [1, -1n],
      [1, BigInt(`0x${Buffer.from(random.bytes(8)).toString("hex")}`)],
    ]);
    value |= BigInt.asUintN(length, run) << BigInt(at);
    at += length;
  }
  return BigInt.asUintN(bits, value);
}

test("division by one limb or two is that of bigints, for numbers of every length", () => {
  const random = createRandom(64);
  for (let n = 0; n < CASES; n++) {
    const divisor = randomNumber(random, random.int(128) + 1) || 1n;
    check(randomNumber(random, random.int(256) + 1), divisor);
    // A multiple and its neighbours, whose remainders are 0, 1 and the greatest.
    const multiple = divisor * randomNumber(random, random.int(256) + 1);
    for (const delta of [-1n, 0n, 1n]) check(BigInt.asUintN(256, multiple + delta), divisor);
    const largest = MODULUS - (MODULUS % divisor);
    for (const numerator of [largest - 1n, BigInt.asUintN(256, largest), MODULUS - 1n]) check(numerator, divisor);
  }
});

test("division by one limb or two is that of bigints next to powers of two", () => {
  const near = (bits: number) =>
    [-2n, -1n, 0n, 1n, 2n].map((delta) => BigInt.asUintN(bits, (1n << BigInt(bits)) + delta));
  const divisors = [1, 2, 31, 32, 33, 62, 63, 64, 65, 96, 126, 127, 128].flatMap(near);
  const numerators = [1, 32, 63, 64, 65, 127, 128, 129, 191, 192, 193, 254, 255, 256].flatMap((bits) => {
    return [-2n, -1n, 0n, 1n].map((delta) => BigInt.asUintN(256, (1n << BigInt(bits)) + delta));
  });
  for (const divisor of new Set([...divisors, 1n << 63n, 1n << 127n, (1n << 63n) + 1n, (1n << 127n) + 1n])) {
    if (divisor === 0n) continue;
    for (const numerator of numerators) check(numerator, divisor);
  }
});
