import assert from "node:assert/strict";
import { test } from "node:test";
import type { Halt } from "./halts.ts";
import { haltText, isOutOfGas } from "./halts.ts";

const TEXTS: readonly (readonly [Halt, string])[] = [
  [{ kind: "outOfGas" }, "out of gas"],
  [{ kind: "outOfGas", reason: "write protection" }, "out of gas: write protection"],
  [{ kind: "codeStoreOutOfGas" }, "contract creation code storage out of gas"],
  [{ kind: "codeSizeExceeded", size: 24577, limit: 24576 }, "max code size exceeded: code size 24577 limit 24576"],
  [{ kind: "stackUnderflow", have: 1, need: 2 }, "stack underflow (1 <=> 2)"],
  [{ kind: "stackOverflow", have: 1024, limit: 1023 }, "stack limit reached 1024 (1023)"],
  [{ kind: "invalidOpcode", opcode: 0xfe }, "invalid opcode: INVALID"],
  [{ kind: "invalidOpcode", opcode: 0x0c }, "invalid opcode: opcode 0xc not defined"],
  [{ kind: "invalidOpcode", opcode: 0x5f }, "invalid opcode: PUSH0"],
  [{ kind: "invalidOpcode", opcode: 0xe3 }, "invalid opcode: CALLF"],
  [{ kind: "invalidOpcode", opcode: 0xfb }, "invalid opcode: EXTSTATICCALL"],
  [{ kind: "precompile", reason: "invalid input length" }, "invalid input length"],
];

test("haltText gives geth's words", () => {
  for (const [halt, text] of TEXTS) assert.equal(haltText(halt), text);
});

test("isOutOfGas holds with every reason and for no other halt", () => {
  assert.equal(isOutOfGas({ kind: "outOfGas", reason: "gas uint64 overflow" }), true);
  assert.equal(isOutOfGas({ kind: "codeStoreOutOfGas" }), false);
  assert.equal(isOutOfGas({ kind: "gasUintOverflow" }), false);
});
