import assert from "node:assert/strict";
import { test } from "node:test";
import { testBlock, testMessage } from "../../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../../test/support/evm/state/memory-state.ts";
import fc from "../../../../test/support/fast-check.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import { createWorldState } from "../../state/world-state.ts";
import { createEvm } from "../engine.ts";
import type { FrameEnd, FrameStart, Tracer } from "../tracer.ts";
import { FrameTable } from "./frame-table.ts";

const evm = createEvm();
const CONTRACTS = [..."abcd"].map((digit) => `0x${digit.repeat(40)}` as Address);
const IDENTITY = `0x${"00".repeat(19)}04` as Address;
const CALLER = `0x${"11".repeat(20)}` as Address;

type SeenFrame = { depth: number; start: FrameStart; end: FrameEnd };

/** The frames that `onEnter` and `onExit` report. */
function recordingHooks() {
  const frames: SeenFrame[] = [];
  const open: SeenFrame[] = [];
  const hooks: Tracer = {
    onEnter(start, depth) {
      open[depth] = { depth, start, end: undefined as never };
      frames.push(open[depth]);
    },
    onExit(end, depth) {
      open[depth]!.end = end;
    },
  };
  return { frames, hooks };
}

/** Runs contracts under both kinds of tracing at once. */
function traceBoth(codes: readonly string[], value: bigint) {
  const { frames, hooks } = recordingHooks();
  let bytes = 0;
  const table = new FrameTable((count) => {
    bytes += count;
  });
  const account = (balance: bigint, code: string) => ({
    balance,
    nonce: 1n,
    code: hexToBytes(`0x${code}`),
  });
  const contracts = CONTRACTS.map((address, i) => [address, account(1_000n, codes[i] ?? "")] as const);
  const state = createMemoryState(new Map([...contracts, [CALLER, account(10n ** 40n, "")]]));
  const message = testMessage({
    to: CONTRACTS[0]!,
    caller: CALLER,
    origin: CALLER,
    value,
    data: hexToBytes("0x010203"),
    gas: 3_000_000n,
  });
  const block = testBlock({ hardfork: "prague" });
  evm.execute(message, block, createWorldState(state), { tracer: { ...hooks, frames: table } });
  // What the table has is still there when the engine has gone on.
  evm.execute(testMessage({ to: IDENTITY, data: hexToBytes("0xffffff") }), block, createWorldState(state), {});
  const seen = Array.from({ length: table.length }, (_, index) => table.at(index));
  return { seen, expected: frames, bytes };
}

const push = (value: number | Address) =>
  typeof value === "string" ? `73${value.slice(2)}` : `63${value.toString(16).padStart(8, "0")}`;

const size = fc.oneof(fc.nat(70), fc.constantFrom(0, 1, 255, 256, 257, 1_500));

/** One call, creation or end of a contract, as code. */
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({
        opcode: fc.constantFrom("f1", "f2", "f4", "fa"),
        target: fc.constantFrom(...CONTRACTS, IDENTITY, CALLER),
        value: fc.constantFrom(0, 0, 1, 5_000),
        gas: fc.constantFrom(0, 100, 50_000, 0xffffffff),
        input: fc.nat(40),
        inputSize: size,
        outputSize: size,
      })
      .map(({ opcode, target, value, gas, input, inputSize, outputSize }) => {
        const hasValue = opcode === "f1" || opcode === "f2";
        const operands = [outputSize, 7, inputSize, input, ...(hasValue ? [value] : []), target, gas];
        return `${operands.map(push).join("")}${opcode}50`;
      }),
  },
  // Memory that is not all zeros.
  fc.nat(200).map((at) => `365a0142${push(at)}52`),
  { weight: 2, arbitrary: size.map((length) => `${push(length)}${push(3)}fd`) },
  { weight: 2, arbitrary: size.map((length) => `${push(length)}${push(1)}f3`) },
  // CREATE with the empty value, of the input as init code.
  size.map((length) => `${push(length)}5f5f37${push(length)}5f5ff050`),
  fc.constantFrom(...CONTRACTS, CALLER).map((heir) => `${push(heir)}ff`),
  fc.constantFrom("fe", "5b5f56", "50"),
);

const code = fc.array(step, { maxLength: 7 }).map((steps) => steps.join(""));

test("FrameTable has the frames that onEnter and onExit report", () => {
  fc.assert(
    fc.property(fc.array(code, { minLength: 4, maxLength: 4 }), fc.constantFrom(0n, 1n, 10n ** 35n), (codes, value) => {
      const { seen, expected, bytes } = traceBoth(codes, value);
      assert.deepEqual(seen, expected);
      const sizes = expected.map(({ start, end }) => start.input.length + end.output.length);
      assert.equal(
        bytes,
        sizes.reduce((sum, length) => sum + length, 0),
      );
    }),
    { numRuns: 300 },
  );
});

test("FrameTable has all of a thousand frames, with inputs of growing size", () => {
  // Calls itself with one byte of input more until the gas ends.
  const { seen, expected } = traceBoth([`5f5f36600101${"5f5f"}305af1`], 0n);
  assert.ok(seen.length > 300);
  assert.deepEqual(seen, expected);
});
