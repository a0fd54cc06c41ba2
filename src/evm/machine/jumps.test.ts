import assert from "node:assert/strict";
import { test } from "node:test";
import { testBlock, testMessage } from "../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import fc from "../../../test/support/fast-check.ts";
import type { Address } from "../../base/primitives/address.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { createWorldState } from "../state/world-state.ts";
import { createEvm } from "./engine.ts";
import type { ExecuteOptions } from "./evm.ts";

/**
 * The fast build takes a comparison, ISZERO, PUSH2 and JUMP or JUMPI in one go; the builds for tracers run every opcode
 * by itself. All three must end alike with any gas.
 */

const evm = createEvm();
const contract = `0x${"cc".repeat(20)}` as Address;

function run(code: Uint8Array, gas: bigint, options: ExecuteOptions = {}) {
  const state = createWorldState(createMemoryState());
  state.setAccount(contract, { nonce: 1n, balance: 0n, codeHash: state.putCode(code) });
  const { outcome, halt, gasLeft, returnData } = evm.execute(
    testMessage({ to: contract, gas }),
    testBlock(),
    state,
    options,
  );
  return { outcome, halt, gasLeft, returnData: bytesToHex(returnData) };
}

const operands = fc.constantFrom([], [0x5f], [0x5f, 0x5f], [0x60, 2, 0x60, 3], [0x60, 3, 0x60, 2]);
/** LT, GT, SLT, SGT, EQ, ISZERO, AND, and nothing */
const test0 = fc.constantFrom([0x10], [0x11], [0x12], [0x13], [0x14], [0x15], [0x16], []);
const negations = fc.constantFrom([], [0x15], [0x15, 0x15]);
/** PUSH2 with destinations that are good, bad, inside an immediate, past the end; then JUMPI, JUMP or another opcode */
const jump = fc
  .tuple(
    fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constantFrom(0x7fff, 0xffff)),
    fc.constantFrom(0x57, 0x57, 0x56, 0x50, 0x5b),
  )
  .map(([destination, opcode]) => [0x61, destination >> 8, destination & 0xff, opcode]);
/** Destinations are frequent; PUSH1 0x5b is none. MSTORE and RETURN make the way visible. */
const rest = fc.constantFrom([0x5b], [0x5b, 0x5b], [0x60, 0x5b], [0x30, 0x5f, 0x52], [0x60, 0x20, 0x5f, 0xf3]);
const program = fc
  .array(
    fc.tuple(operands, test0, negations, jump, rest, rest).map((parts) => parts.flat()),
    { minLength: 1, maxLength: 5 },
  )
  .chain((parts) => {
    const bytes = parts.flat();
    // Cut anywhere: an immediate may lack its end.
    return fc.integer({ min: 1, max: bytes.length }).map((end) => Uint8Array.from(bytes.slice(0, end)));
  });

test("jumps taken with preceding opcodes end as jumps taken alone", () => {
  fc.assert(
    fc.property(program, fc.integer({ min: 0, max: 300 }), (code, gas) => {
      for (const limit of [BigInt(gas), 2_000n]) {
        const alone = run(code, limit, { tracer: { onStep: () => {} } });
        assert.deepEqual(run(code, limit), alone, bytesToHex(code));
        const perAccess = run(code, limit, { tracer: { onAccessStep: () => {} } });
        assert.deepEqual(perAccess, alone, bytesToHex(code));
      }
    }),
    { numRuns: 3_000 },
  );
});
