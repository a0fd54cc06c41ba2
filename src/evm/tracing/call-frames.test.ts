import assert from "node:assert/strict";
import { test } from "node:test";
import { testBlock, testMessage } from "../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import fc from "../../../test/support/fast-check.ts";
import type { Address } from "../../base/primitives/address.ts";
import { hexToBytes } from "../../base/primitives/hex.ts";
import { createEvm } from "../machine/engine.ts";
import { createWorldState } from "../state/world-state.ts";
import { CallFrameRecorder, FrameTables, FrameTreeRecorder } from "./call-frames.ts";

const evm = createEvm();
const CONTRACTS = [..."abc"].map((digit) => `0x${digit.repeat(40)}` as Address);
const UNLIMITED = { take() {} };

/** A log, a call of a contract with little or much gas, an end of each kind. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("5f5fa0", "60205fa0") },
  {
    weight: 4,
    arbitrary: fc
      .record({ target: fc.constantFrom(...CONTRACTS), gas: fc.constantFrom(0, 700, 30_000, 0xffffff) })
      .map(({ target, gas }) => `5f5f60045f5f73${target.slice(2)}62${gas.toString(16).padStart(6, "0")}f150`),
  },
  fc.constantFrom("5f5ffd", "00", "fe"),
);
const code = fc.array(step, { maxLength: 6 }).map((steps) => steps.join(""));

test("FrameTreeRecorder makes the tree that the hooks of each frame make, with the same logs, on tables that are used again", () => {
  const tables = new FrameTables();
  fc.assert(
    fc.property(fc.array(code, { minLength: 3, maxLength: 3 }), fc.nat(9), (codes, logsBefore) => {
      const accounts = CONTRACTS.map((address, i) => {
        return [address, { balance: 1n, nonce: 1n, code: hexToBytes(`0x${codes[i]!}`) }] as const;
      });
      const expected = new CallFrameRecorder(logsBefore, UNLIMITED);
      const recorder = new FrameTreeRecorder(UNLIMITED, tables, true);
      const tracer = {
        frames: recorder.hooks.frames!,
        onEnter: expected.onEnter,
        onExit: expected.onExit,
        onLog: (...[log, depth]: Parameters<NonNullable<typeof recorder.hooks.onLog>>) => {
          expected.onLog(log);
          recorder.hooks.onLog!(log, depth);
        },
      };
      const message = testMessage({ to: CONTRACTS[0]!, gas: 300_000n });
      const state = createWorldState(createMemoryState(new Map(accounts)));
      evm.execute(message, testBlock({ hardfork: "prague" }), state, { tracer });
      assert.deepEqual(recorder.top(logsBefore), expected.top);
      recorder.dispose();
    }),
    { numRuns: 300 },
  );
});

test("FrameTables gives a table again that nothing reads any more, unless it has grown large", () => {
  const tables = new FrameTables();
  const table = tables.acquire(() => {});
  assert.notEqual(
    tables.acquire(() => {}),
    table,
  );
  tables.release(table);
  assert.equal(
    tables.acquire(() => {}),
    table,
  );
  const large = { byteLength: 1 << 30 } as typeof table;
  tables.release(large);
  assert.notEqual(
    tables.acquire(() => {}),
    large,
  );
});
