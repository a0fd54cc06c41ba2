import assert from "node:assert/strict";
import { test } from "node:test";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import { opcodesOf } from "../opcodes.ts";
import { writeSegments } from "./analyse.ts";

type Segment = {
  readonly gas: number;
  readonly isDestination: boolean;
  /** Words the stack must hold, and may hold at most */
  readonly need: number;
  readonly most: number;
};

function segmentsOf(code: string): Map<number, Segment> {
  const bytes = hexToBytes(`0x${code}`);
  const table = new Uint32Array(2 * (bytes.length + 1));
  writeSegments(bytes, opcodesOf("osaka"), table);
  const found = new Map<number, Segment>();
  for (let pc = 0; pc <= bytes.length; pc++) {
    const [gas, stack] = [table[2 * pc]!, table[2 * pc + 1]!];
    if (gas === 0 && stack === 0) continue;
    const need = (stack & 0xffff) / 32;
    found.set(pc, {
      gas: gas & 0x7fffffff,
      isDestination: gas >>> 31 === 1,
      need,
      most: need + (stack >>> 16) / 32,
    });
  }
  return found;
}

test("a segment sums gas and bounds the stack of a run of opcodes", () => {
  // PUSH1 PUSH1 ADD ADD STOP
  const segments = segmentsOf("600160020101");
  assert.deepEqual(segments.get(0), { gas: 12, isDestination: false, need: 1, most: 1022 });
});

test("a JUMPDEST begins a segment, in the immediate of a PUSH it does not", () => {
  const segments = segmentsOf("605b5b605b");
  assert.deepEqual([...segments.keys()], [0, 2, 5]);
  assert.equal(segments.get(2)?.isDestination, true);
  assert.equal(segments.get(0)?.isDestination, false);
});

test("a segment ends after JUMPI, GAS and what touches the state", () => {
  assert.deepEqual([...segmentsOf("5f5f57 5a 5f54 5f5f55 00".replaceAll(" ", "")).keys()], [0, 3, 4, 6, 9, 10]);
});

test("code after a halt belongs to no segment until a JUMPDEST", () => {
  assert.deepEqual([...segmentsOf("0001015b00").keys()], [0, 3, 5]);
});

test("the end of any code is a segment of its own, for the STOP that follows", () => {
  assert.deepEqual(segmentsOf("").get(0), { gas: 0, isDestination: false, need: 0, most: 1024 });
  assert.deepEqual(segmentsOf("54").get(1), { gas: 0, isDestination: false, need: 0, most: 1024 });
  // A PUSH whose immediate is cut off by the end
  assert.deepEqual([...segmentsOf("7f01").keys()], [0, 2]);
});

test("a segment that no stack can satisfy asks for more than there is", () => {
  const tooDeep = segmentsOf("50".repeat(1025)).get(0)!;
  const tooHigh = segmentsOf("5f".repeat(1025)).get(0)!;
  for (const { need, most } of [tooDeep, tooHigh]) {
    assert.ok(need > 1024);
    assert.ok(most < need + 1);
  }
});
