import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CONTROL_CHARACTERS } from "../../../../test/support/base/telemetry/control-characters.ts";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { MethodNotFoundError } from "../../../rpc/transport/errors.ts";
import { ACTIVITY_LIMITS, ActivityLog } from "./activity-log.ts";
import type { BlockReport } from "./block-text.ts";
import { createPaint } from "./paint.ts";

/** A log whose time goes on when the test says so. */
function logWithClock(isEnabled = true) {
  const timers = new ManualTimers();
  let written = "";
  const log = new ActivityLog({
    write: (text) => {
      written += text;
    },
    paint: createPaint(false),
    timers,
    isEnabled: () => isEnabled,
  });
  return {
    log,
    /** Lines since the last look. */
    lines() {
      const lines = written.split("\n").slice(0, -1);
      written = "";
      return lines;
    },
    pass: (milliseconds: number) => timers.advanceSync(milliseconds),
  };
}

const call = (log: ActivityLog, method: string, result = '"0x1"') => log.call(method, [], 0.2, result, undefined);

const BLOCK: BlockReport = {
  number: 7,
  transactions: 3,
  gasUsed: 63_000n,
  gasLimit: 30_000_000n,
  baseFeePerGas: 875_000_000n,
  timestamp: 1_767_225_600,
  shown: [],
  hidden: { count: 3, failed: 1 },
};

describe("ActivityLog", () => {
  test("prints calls in the order they came, each with its result and time", () => {
    const { log, lines, pass } = logWithClock();
    call(log, "eth_chainId", '"0x7a69"');
    call(log, "eth_syncing", "false");
    call(log, "eth_getBlockByNumber", '{"number":"0x0"}');
    assert.deepEqual(lines(), []);
    pass(ACTIVITY_LIMITS.gatherMs);
    assert.deepEqual(lines(), [
      "eth_chainId → 0x7a69  0.2 ms",
      "eth_syncing → false  0.2 ms",
      "eth_getBlockByNumber  0.2 ms",
    ]);
  });

  test("counts equal calls in one line, with their result as long as it is the same", () => {
    const { log, lines, pass } = logWithClock();
    for (let i = 0; i < 14; i++) {
      call(log, "eth_blockNumber", '"0x5"');
      call(log, "eth_getBalance", `"0x${i}"`);
    }
    pass(ACTIVITY_LIMITS.gatherMs);
    assert.deepEqual(lines(), ["eth_blockNumber ×14 → 0x5  0.2 ms each", "eth_getBalance ×14  0.2 ms each"]);
  });

  test("prints a program that polls rarer and rarer, until something new is called", () => {
    const { log, lines, pass } = logWithClock();
    let printed = 0;
    for (let second = 0; second < 600; second++) {
      call(log, "eth_blockNumber");
      call(log, "eth_gasPrice");
      pass(1_000);
      printed += lines().length;
    }
    assert.ok(printed > 2 * 15 && printed < 2 * 40, `${printed} lines`);
    call(log, "eth_chainId");
    pass(ACTIVITY_LIMITS.gatherMs);
    assert.equal(lines().at(-1), "eth_chainId → 0x1  0.2 ms");
  });

  test("prints what was gathered before a block, at once", () => {
    const { log, lines } = logWithClock();
    call(log, "eth_sendRawTransaction");
    log.block(BLOCK);
    assert.deepEqual(lines(), [
      "eth_sendRawTransaction → 0x1  0.2 ms",
      "block 7  3 transactions  63,000 gas (0.2%)  base fee 0.875 gwei  2026-01-01 00:00:00",
      "  … 3 more transactions, 1 of them failed",
    ]);
  });

  test("counts blocks without transactions that follow each other", () => {
    const { log, lines, pass } = logWithClock();
    for (let number = 5; number < 10; number++) log.emptyBlock(number);
    pass(ACTIVITY_LIMITS.gatherMs);
    assert.deepEqual(lines(), ["blocks 5 to 9  5 empty"]);
    let printed = 0;
    for (let number = 10; number < 610; number++) {
      log.emptyBlock(number);
      pass(1_000);
      printed += lines().length;
    }
    assert.ok(printed > 15 && printed < 40, `${printed} lines`);
    log.emptyBlock(700);
    pass(ACTIVITY_LIMITS.gatherMsMax);
    assert.equal(lines().at(-1), "block 700  empty");
  });

  test("under load prints a bounded number of lines a second, and counts every other call", () => {
    const { log, lines, pass } = logWithClock();
    let count = 0;
    for (let i = 0; i < 20_000; i++) {
      log.call(`eth_${i}`, [], 0.1, undefined, new MethodNotFoundError(`eth_${i}`));
      if (i % 2_000 === 0) pass(90);
    }
    pass(2_000);
    const printed = lines();
    assert.ok(printed.length < 2 * ACTIVITY_LIMITS.linesPerSecond + 10, `${printed.length} lines`);
    for (const line of printed) {
      const more = /^… ([\d,]+) more calls$/.exec(line)?.[1];
      count += more === undefined ? 1 : Number(more.replaceAll(",", ""));
    }
    assert.equal(count, 20_000);
  });

  test("blocks that are too many to be shown are counted", () => {
    const { log, lines, pass } = logWithClock();
    for (let number = 1; number <= 40; number++) log.hideBlock(number, { count: 3, failed: number === 9 ? 2 : 0 });
    pass(ACTIVITY_LIMITS.gatherMs);
    assert.deepEqual(lines(), ["blocks 1 to 40  … 120 more transactions, 2 of them failed"]);
  });

  test("no character of a caller reaches the terminal that does something there", () => {
    const { log, lines, pass } = logWithClock();
    const method = CONTROL_CHARACTERS.join("").slice(0, 60);
    for (const control of CONTROL_CHARACTERS) {
      call(log, `eth_${control}x`, `"${control}"`);
      log.call(
        method,
        [{ to: control, data: control }],
        1,
        undefined,
        new MethodNotFoundError(`${control}\r\nblock 9`),
      );
      pass(1_000);
    }
    const printed = lines();
    assert.ok(printed.length >= CONTROL_CHARACTERS.length);
    assert.doesNotMatch(printed.join(""), /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    assert.ok(!printed.some((line) => line.startsWith("block")));
  });

  test("a line is bounded, whatever the length of a name, a result or a reason", () => {
    const { log, lines, pass } = logWithClock();
    const long = "x".repeat(1 << 20);
    call(log, long, `"${long}"`);
    log.call(
      "eth_call",
      [{ to: long, data: `0x${"ab".repeat(1 << 20)}` }],
      1,
      `"0x${"00".repeat(1 << 20)}"`,
      undefined,
    );
    log.call(long, [{ to: long }], 1, undefined, new MethodNotFoundError(long));
    pass(1_000);
    const printed = lines();
    assert.equal(printed.length, 3);
    for (const line of printed) assert.ok(line.length < 1_500, `${line.length}`);
  });

  test("nothing is gathered or printed while it is off", () => {
    const isMuted = {
      isMuted: () => true,
      wordsOf: () => assert.fail(),
      detailsOf: () => assert.fail(),
      headNumber: () => 0,
    };
    for (const isEnabled of [true, false]) {
      const { log, lines, pass } = logWithClock(isEnabled);
      if (isEnabled) log.connect(isMuted);
      call(log, "eth_chainId");
      log.emptyBlock(1);
      log.block(BLOCK);
      log.hideBlock(2, { count: 1, failed: 0 });
      pass(60_000);
      assert.deepEqual(lines(), []);
    }
  });

  test("lines below a call are awaited, also before a block", async () => {
    const { log, lines, pass } = logWithClock();
    let resolve: (lines: readonly string[]) => void = () => {};
    const details = new Promise<readonly string[]>((done) => {
      resolve = done;
    });
    const words = { target: "Bank.deposit(value: 5)", result: "", reason: "execution reverted" };
    log.connect({ isMuted: () => false, wordsOf: () => words, detailsOf: () => details, headNumber: () => 0 });
    log.call("eth_call", [{}], 1, undefined, new MethodNotFoundError("x"));
    pass(ACTIVITY_LIMITS.gatherMs);
    assert.deepEqual(lines(), []);
    resolve(["reverted at src/Bank.sol:24"]);
    await log.settled();
    log.block({ ...BLOCK, hidden: { count: 0, failed: 0 } });
    assert.deepEqual(lines().slice(0, 2), [
      "eth_call Bank.deposit(value: 5) ✗ execution reverted  1.0 ms",
      "    reverted at src/Bank.sol:24",
    ]);
  });
});
