import assert from "node:assert/strict";
import { test } from "node:test";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { testBlock, testMessage } from "../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import { type Address, parseAddress } from "../../base/primitives/address.ts";
import { bigintToFixedBytes, concatBytes, EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { hexToBytes } from "../../base/primitives/hex.ts";
import { createWorldState } from "../state/world-state.ts";
import { createEvm } from "./engine.ts";
import { precompilesAt } from "./precompiles/index.ts";

const GAS = 1n << 62n;
/** Readings of the clock before the deadline. */
const READINGS = 20;

const element = (value: bigint) => bigintToFixedBytes(value, 64);
const word = (value: bigint) => bigintToFixedBytes(value, 32);
const g1 = () => {
  const { x, y } = bls12_381.G1.Point.BASE.toAffine();
  return concatBytes(element(x), element(y));
};
const g2 = () => {
  const { x, y } = bls12_381.G2.Point.BASE.toAffine();
  return concatBytes(element(x.c0), element(x.c1), element(y.c0), element(y.c1));
};
const scalar = word(2n ** 254n + 1n);
const repeat = (count: number, ...parts: readonly Uint8Array[]) =>
  concatBytes(...new Array<Uint8Array>(count).fill(concatBytes(...parts)));
const modexp = (length: number, exponentLength: number) =>
  concatBytes(
    ...[length, exponentLength, length].map((each) => word(BigInt(each))),
    new Uint8Array(length).fill(0xfe),
    new Uint8Array(exponentLength + length).fill(0xff),
  );

/** Inputs that take longer than a deadline may be late. */
const LONG_INPUTS: Readonly<Record<string, () => Uint8Array>> = {
  RIPEMD160: () => new Uint8Array((READINGS + 5) * 2 ** 18),
  MODEXP: () => modexp(1024, 1024),
  BN254_PAIRING: () => new Uint8Array(192 * 100),
  BLAKE2F: () => concatBytes(Uint8Array.of(0xff, 0xff, 0xff, 0xff), new Uint8Array(209)),
  BLS12_G1MSM: () => repeat(100, g1(), scalar),
  BLS12_G2MSM: () => repeat(100, g2(), scalar),
  BLS12_PAIRING_CHECK: () => repeat(100, g1(), g2()),
};

/** An engine whose clock moves by one at each reading. */
function countingEvm() {
  const clock = { readings: 0 };
  return { clock, evm: createEvm({ now: () => ++clock.readings }) };
}

function emptyState() {
  const state = createWorldState(createMemoryState());
  state.putCode(EMPTY_BYTES);
  return state;
}

for (const [name, input] of Object.entries(LONG_INPUTS)) {
  test(`a deadline ends ${name} in the middle of its work`, () => {
    const [to] = [...precompilesAt("osaka")].find(([, each]) => each.name === name)!;
    const { clock, evm } = countingEvm();
    const message = testMessage({ to, data: input(), gas: GAS });
    const { halt } = evm.execute(message, testBlock(), emptyState(), { deadlineMs: READINGS });
    assert.deepEqual(halt, { kind: "timeout" });
    assert.equal(clock.readings, READINGS + 1);
  });
}

test("a deadline inside a precompile ends the frames that called it, and the next execution is not affected", () => {
  const to = parseAddress(`0x${"cc".repeat(20)}`);
  const [pairing] = [...precompilesAt("osaka")].find(([, each]) => each.name === "BLAKE2F")!;
  const state = emptyState();
  // CALLDATACOPY(0, 0, 213), then CALL with all gas.
  const code = hexToBytes(`0x60d55f5f37 5f5f60d55f5f73${pairing.slice(2)}5af1`.replaceAll(" ", "") as `0x${string}`);
  state.setAccount(to as Address, { nonce: 1n, balance: 0n, codeHash: state.putCode(code) });
  const data = LONG_INPUTS["BLAKE2F"]!();
  const depths: number[] = [];
  const { evm } = countingEvm();
  const tracer = {
    onEnter: () => {},
    onExit: (_: unknown, depth: number) => {
      depths.push(depth);
    },
  };
  const options = { deadlineMs: READINGS, tracer };
  const { halt } = evm.execute(testMessage({ to, data, gas: GAS }), testBlock(), state, options);
  assert.deepEqual(halt, { kind: "timeout" });
  assert.deepEqual(depths, [1, 0]);
  data.fill(0);
  assert.equal(evm.execute(testMessage({ to, data }), testBlock(), state).outcome, "success");
});

test("a deadline ends a traced loop within a few steps, however little gas they cost", () => {
  const to = parseAddress(`0x${"cc".repeat(20)}`) as Address;
  const state = emptyState();
  // JUMPDEST, PUSH0, JUMP
  const codeHash = state.putCode(hexToBytes("0x5b5f56"));
  state.setAccount(to, { nonce: 1n, balance: 0n, codeHash });
  const { evm } = countingEvm();
  let steps = 0;
  const tracer = {
    onStep: () => {
      steps++;
    },
  };
  const message = testMessage({ to, gas: GAS });
  const { halt } = evm.execute(message, testBlock(), state, { deadlineMs: READINGS, tracer });
  assert.deepEqual(halt, { kind: "timeout" });
  assert.ok(steps <= 16 * (READINGS + 1), `${steps} steps`);
});
