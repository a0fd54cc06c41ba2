import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { CONTROL_CHARACTERS } from "../../../../test/support/base/telemetry/control-characters.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { amountText, roundedAmountText, shareText } from "./amounts.ts";
import { type BlockReport, blockLines, TRANSACTION_TEXT_LIMITS, type TransactionReport } from "./block-text.ts";
import { createPaint } from "./paint.ts";

const FAILED: TransactionReport = {
  hash: `0x${"ab".repeat(32)}` as Hash,
  from: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 (account 0)",
  to: "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512 (Bank)",
  created: undefined,
  value: 1_500_000_000_000_000_000n,
  nonce: 3n,
  gasUsed: 32_415n,
  gasLimit: 196_608n,
  gasPrice: 588_600_000n,
  blobFee: 0n,
  isFailed: true,
  details: {
    reason: "execution reverted: Empty(balance: 400)",
    revertedAt: "src/Bank.sol:24",
    calls: [
      "Bank.deposit(value: 5000) ✗ Empty(balance: 400) [32415 gas]",
      "  Token.balanceOf(0xf39F) → 400 [2912 gas]",
      "  emit Seen(value: 400)",
    ],
    printed: ["deposit of 5000", "two\nlines"],
  },
};

const CREATION: TransactionReport = {
  ...FAILED,
  to: undefined,
  created: "0x5FbDB2315678afecb367f032d93F642f64180aa3 (Token)",
  value: 0n,
  isFailed: false,
  details: undefined,
};

const BLOCK: BlockReport = {
  number: 4,
  transactions: 2,
  gasUsed: 64_830n,
  gasLimit: 100_000_000n,
  baseFeePerGas: 587_612_345n,
  timestamp: 1_767_225_600,
  shown: [FAILED, CREATION],
  hidden: { count: 0, failed: 0 },
};

test("a block is one line, and each transaction below it with all that is known of it", () => {
  assert.deepEqual(blockLines(BLOCK, createPaint(false)), [
    "block 4  2 transactions  64,830 gas (<0.1%)  base fee 0.5876 gwei  2026-01-01 00:00:00",
    `  transaction 0x${"ab".repeat(32)}`,
    "    from     0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 (account 0) nonce 3",
    "    to       0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512 (Bank)",
    "    value    1.5 ETH",
    "    gas      32,415 of 196,608 (16%), fee 0.00001908 ETH at 0.5886 gwei a gas",
    "    status   failed: execution reverted: Empty(balance: 400)",
    "    at       src/Bank.sol:24",
    "    calls    Bank.deposit(value: 5000) ✗ Empty(balance: 400) [32415 gas]",
    "               Token.balanceOf(0xf39F) → 400 [2912 gas]",
    "               emit Seen(value: 400)",
    "    console  deposit of 5000",
    "             two",
    "             lines",
    `  transaction 0x${"ab".repeat(32)}`,
    "    from     0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 (account 0) nonce 3",
    "    creates  0x5FbDB2315678afecb367f032d93F642f64180aa3 (Token)",
    "    gas      32,415 of 196,608 (16%), fee 0.00001908 ETH at 0.5886 gwei a gas",
    "    status   success",
  ]);
});

test("with colours the text is the same", () => {
  const painted = blockLines(BLOCK, createPaint(true)).join("\n");
  assert.ok(painted.includes("\u001b[31mfailed: "));
  assert.equal(stripVTControlCharacters(painted), blockLines(BLOCK, createPaint(false)).join("\n"));
});

test("names, reasons and what contracts print stay on their lines, without control characters and bounded", () => {
  const text = CONTROL_CHARACTERS.join("a");
  const details = {
    reason: text,
    revertedAt: text,
    calls: [text, "x".repeat(1 << 20), ...Array.from({ length: 500 }, () => "call")],
    printed: [text.replaceAll("\n", ""), "y\n".repeat(1 << 16)],
  };
  const evil = { ...FAILED, from: text, to: text, details };
  const lines = blockLines({ ...BLOCK, shown: [evil] }, createPaint(false));
  const { callsMax, printedMax, lineCharsMax } = TRANSACTION_TEXT_LIMITS;
  assert.ok(lines.length < callsMax + printedMax + 15, `${lines.length} lines`);
  for (const line of lines) {
    assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    assert.ok(line.length < 6 * lineCharsMax + 60, `${line.length}`);
  }
});

test("amounts are exact, and in the unit with the fewest zeros", () => {
  const cases: readonly (readonly [bigint, string])[] = [
    [0n, "0 ETH"],
    [1n, "1 wei"],
    [999_999n, "999,999 wei"],
    [1_000_000n, "0.001 gwei"],
    [20_000_000_000n, "20 gwei"],
    [1_000_000_000_000n, "0.000001 ETH"],
    [1_500_000_000_000_000_000n, "1.5 ETH"],
    [12_345_000_000_000_000_000_001n, "12,345.000000000000000001 ETH"],
  ];
  for (const [wei, text] of cases) assert.equal(amountText(wei), text);
  assert.equal(roundedAmountText(587_612_345n), "0.5876 gwei");
  assert.equal(roundedAmountText(999_960_000_000_000_000n), "1 ETH");
  assert.deepEqual(
    [shareText(0n, 5n), shareText(1n, 5_000n), shareText(1n, 40n), shareText(5n, 5n), shareText(1n, 0n)],
    ["0%", "<0.1%", "2.5%", "100%", ""],
  );
});
