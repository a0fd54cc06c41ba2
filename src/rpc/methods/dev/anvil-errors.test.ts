/** The texts are those of anvil 1.7.1, asked by hand with the same bytes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Hex, hexToBytes } from "../../../base/primitives/hex.ts";
import { ExecutionRevertedError } from "../../../evm/execution/call/call-errors.ts";
import { toErrorObject } from "../../transport/dispatch/error-codes.ts";
import { anvilError } from "./anvil-errors.ts";

const word = (value: number) => value.toString(16).padStart(64, "0");
const PANIC = "0x4e487b71";
const CUSTOM = "0x2d104ea3";

const REVERTS: readonly (readonly [data: string, text: string])[] = [
  ["0x", "execution reverted"],
  [`${PANIC}${word(0)}`, "execution reverted: panic: generic/unspecified error (0x00)"],
  [`${PANIC}${word(1)}`, "execution reverted: panic: assertion failed (0x01)"],
  [`${PANIC}${word(0x11)}`, "execution reverted: panic: arithmetic underflow or overflow (0x11)"],
  [`${PANIC}${word(0x31)}`, "execution reverted: panic: called `.pop()` on an empty array (0x31)"],
  [`${PANIC}${word(0x99)}`, "execution reverted: panic: unknown code (0x99)"],
  [CUSTOM, "execution reverted: custom error 0x2d104ea3"],
  [`${CUSTOM}${word(1)}`, `execution reverted: custom error 0x2d104ea3: ${"\0".repeat(31)}\u0001`],
  [`${CUSTOM}${word(0xff)}`, `execution reverted: custom error 0x2d104ea3: ${word(0xff)}`],
  [`0x${word(0xff)}`, `execution reverted: custom error 0x00000000: ${word(0xff).slice(8)}`],
  ["0xff00", "execution reverted: custom error bytes 0xff00"],
  ["0x0000", "execution reverted: \0\0"],
  ["0x08c379a0", "execution reverted: custom error 0x08c379a0"],
  [`0x08c379a0${word(32)}${word(5)}${"68656c6c6f".padEnd(64, "0")}`, "execution reverted: hello"],
];

for (const [data, text] of REVERTS) {
  test(`anvilError words a revert with ${data} as anvil does`, () => {
    const error = new ExecutionRevertedError(hexToBytes(data as Hex));
    assert.deepEqual(toErrorObject(anvilError(error, "eth_call")), { code: 3, message: text, data });
  });
}
