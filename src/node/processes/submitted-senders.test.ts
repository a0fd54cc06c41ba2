import assert from "node:assert/strict";
import { after, test } from "node:test";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { until } from "../../../test/support/until.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { recoverSender } from "../../base/types/transaction/sender.ts";
import { signTransaction } from "../../base/types/transaction/sign.ts";
import { SubmittedSenders } from "./submitted-senders.ts";

const senders = new SubmittedSenders(2, { log: STRICT_LOGGER, timers: fatalTimers });
after(() => senders.close());

const signed = (nonce: number, key: number) =>
  signTransaction(
    {
      type: 2,
      chainId: 1n,
      nonce: BigInt(nonce),
      gasLimit: 21_000n,
      to: `0x${"7a".repeat(20)}` as never,
      value: 1n,
      data: new Uint8Array(),
      accessList: [],
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
    },
    new Uint8Array(32).fill(key),
  );

/** The first one starts a thread, and does not wait for it. */
async function isStarted(): Promise<void> {
  await until(() => senders.of(signed(0, 1).raw) !== undefined, "the thread");
}

test("SubmittedSenders: the sender is who signed, in the order of the questions", async () => {
  assert.equal(senders.of(signed(0, 1).raw), undefined);
  await isStarted();
  const transactions = Array.from({ length: 300 }, (_, i) => signed(i, 1 + (i % 5)));
  const answered: number[] = [];
  const found = await Promise.all(
    transactions.map(async ({ raw }, i) => {
      const sender = await senders.of(raw);
      answered.push(i);
      return sender;
    }),
  );
  assert.deepEqual(
    found,
    transactions.map((tx) => recoverSender(tx)),
  );
  assert.deepEqual(
    answered,
    transactions.map((_, i) => i),
  );
});

test("SubmittedSenders: what has no sender does not keep those beside it from theirs", async () => {
  await isStarted();
  const { raw } = signed(0, 1);
  const cut = raw.subarray(0, raw.length - 1);
  // So many of one turn that threads recover them.
  const questions = Array.from({ length: 20 }, (_, i) => [raw, cut, new Uint8Array(), raw][i % 4]!);
  const found = await Promise.all(questions.map((each) => senders.of(each)));
  const sender = recoverSender(signed(0, 1));
  assert.deepEqual(
    found,
    questions.map((each) => (each === raw ? sender : undefined)),
  );
});
