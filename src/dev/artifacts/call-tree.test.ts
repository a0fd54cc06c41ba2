import assert from "node:assert/strict";
import { test } from "node:test";
import { SYSTEM_ADDRESS } from "../../base/params/gas.ts";
import type { Hex } from "../../base/primitives/hex.ts";
import { callTreeLines } from "./call-tree.ts";
import { Contracts } from "./contracts.ts";

test("callTreeLines leaves out the protocol's logs of ether transfers, whose value is in the line of the call (EIP-7708)", () => {
  const word = (digit: string): Hex => `0x${digit.padStart(64, "0")}`;
  const transfer: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
  const token: Hex = `0x${"12".repeat(20)}`;
  const logs = [SYSTEM_ADDRESS, token].map((address) => {
    return { address, topics: [transfer, word("1"), word("2")], data: word("3"), position: "0x0" } as const;
  });
  const frame = { type: "CALL", to: token, input: "0x", gasUsed: "0x1", value: "0x3", logs } as const;
  const lines = callTreeLines(frame, { contracts: new Contracts(), contractAt: () => undefined });
  assert.equal(lines.length, 2);
  assert.match(lines[0]!, /\{value: 3\}/);
  assert.match(lines[1]!, /emit Transfer\(/);
});
