import assert from "node:assert/strict";
import { test } from "node:test";
import {
  alice,
  blockContext,
  contract,
  headerOf,
  transactionOf,
} from "../../../../test/support/evm/execution/factories.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import type { Evm } from "../../machine/evm.ts";
import type { OpenHeader } from "../block-context.ts";
import type { RecordedBatch } from "./recorded-batch.ts";
import { SPECULATION_LIMITS, Speculation, type SpeculationOutcome, type SpeculationRequest } from "./speculation.ts";

const evm: Evm = { execute: () => ({ outcome: "success" }) as never };
const headerAt = (number: number): OpenHeader => headerOf({ number, parentHash: ZERO_HASH });
const callOf = (nonce: number, to = contract) => transactionOf({ nonce: BigInt(nonce), to, gasLimit: 200_000n });

/** A batch in which each of the transactions has an execution of which nothing is looked at here. */
function batchOf({ header, transactions }: SpeculationRequest): RecordedBatch {
  const starts = Uint32Array.from(transactions, () => 0);
  const hashes = transactions.map(({ tx }) => tx.hash);
  const block = blockContext({ number: header.number });
  return {
    block,
    hashes,
    starts,
    words: new Uint32Array([0]),
    names: [""],
    values: [],
    bytes: new Uint8Array(),
    halts: [],
  };
}

/** A speculation whose lanes answer when a test says so. */
function speculationOf(lanes = 1) {
  const requests: {
    readonly lane: number;
    readonly request: SpeculationRequest;
    answer(batch?: RecordedBatch): void;
  }[] = [];
  const outcomes: [SpeculationOutcome, number][] = [];
  const speculation = new Speculation(
    Array.from(
      { length: lanes },
      (_, lane) => (request) => new Promise((resolve) => requests.push({ lane, request, answer: resolve })),
    ),
    (...outcome) => void outcomes.push(outcome),
  );
  return { speculation, requests, outcomes };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const all = (count: number) => Array.from({ length: count }, (_, i) => ({ tx: callOf(i), sender: alice }));

test("a transaction is pending until its thread answers, and then has the EVM that applies it, in a block with that header alone", async () => {
  const { speculation, requests } = speculationOf();
  const header = headerAt(1);
  assert.equal(speculation.begin(header), true);
  const [each] = all(1);
  const { tx } = each!;
  assert.ok(speculation.takes(tx) && speculation.isPending(tx));
  speculation.send(header, [each!]);
  assert.ok(!speculation.takes(tx) && speculation.isPending(tx));
  assert.equal(speculation.evmOf(header, tx.hash, evm), undefined);
  requests[0]!.answer(batchOf(requests[0]!.request));
  await turn();
  assert.equal(speculation.isPending(tx), false);
  assert.ok(speculation.evmOf({ ...header }, tx.hash, evm));
  for (const other of [
    { timestamp: 1_001 },
    { coinbase: alice },
    { gasLimit: 1n },
    { parentHash: tx.hash },
    { mixHash: tx.hash },
  ]) {
    assert.equal(
      speculation.evmOf({ ...header, ...other }, tx.hash, evm),
      undefined,
      JSON.stringify(Object.keys(other)),
    );
  }
});

test("what is not recorded is executed at once, as is what a thread that failed had", async () => {
  const { speculation, requests } = speculationOf();
  const header = headerAt(1);
  speculation.begin(header);
  const [recorded, rejected, lost] = all(3);
  speculation.send(header, [recorded!, rejected!]);
  speculation.send(header, [lost!]);
  requests[0]!.answer(batchOf({ header, transactions: [recorded!] }));
  requests[1]!.answer(undefined);
  await turn();
  for (const { tx } of [rejected!, lost!]) {
    assert.equal(speculation.isPending(tx), false);
    assert.equal(speculation.evmOf(header, tx.hash, evm), undefined);
  }
  assert.equal(speculation.isPending(transactionOf()), false, "a plain transfer has no code to run");
});

test("answers for a block that is gone are dropped", async () => {
  const { speculation, requests } = speculationOf();
  const [first, second] = [headerAt(1), headerAt(2)];
  speculation.begin(first);
  const [each] = all(1);
  speculation.send(first, [each!]);
  speculation.begin(second);
  requests[0]!.answer(batchOf(requests[0]!.request));
  await turn();
  assert.equal(speculation.evmOf(second, each!.tx.hash, evm), undefined);
  assert.equal(speculation.evmOf(first, each!.tx.hash, evm), undefined);
  assert.equal(speculation.room, SPECULATION_LIMITS.aheadMax);
});

test("the transactions of a contract go to one thread, in order and in messages of a limited length", () => {
  const { speculation, requests } = speculationOf(3);
  const header = headerAt(1);
  speculation.begin(header);
  const callees = [1, 2, 3].map((i) => `0x${i.toString(16).padStart(40, "0")}` as Address);
  const sent = Array.from({ length: 3 * SPECULATION_LIMITS.batch + 3 }, (_, i) => ({
    tx: callOf(i, callees[i % 3]),
    sender: alice,
  }));
  speculation.send(header, sent);
  for (const callee of callees) {
    const own = requests.filter(({ request }) => request.transactions.some(({ tx }) => tx.to === callee));
    assert.equal(new Set(own.map(({ lane }) => lane)).size, 1);
    const nonces = own.flatMap(({ request }) => request.transactions.map(({ tx }) => tx.nonce));
    assert.deepEqual(
      nonces,
      sent.filter(({ tx }) => tx.to === callee).map(({ tx }) => tx.nonce),
    );
  }
  assert.ok(requests.every(({ request }) => request.transactions.length <= SPECULATION_LIMITS.batch));
  assert.equal(requests.length, 6);
});

test("after blocks in which it was of no use more and more go without, at least one in 65 is tried", async () => {
  const { speculation, requests, outcomes } = speculationOf();
  const begun: number[] = [];
  for (let number = 1; number <= 300; number++) {
    const header = headerAt(number);
    if (!speculation.begin(header)) continue;
    begun.push(number);
    const transactions = all(20);
    speculation.send(header, transactions);
    // None is there when the block is due.
    for (const { tx } of transactions) speculation.evmOf(header, tx.hash, evm);
    requests.length = 0;
  }
  assert.deepEqual(begun, [1, 3, 6, 11, 20, 37, 70, 135, 200, 265]);
  assert.deepEqual(outcomes[0], ["late", 20]);
});

test("an execution of another message is executed again, and counted as a conflict", async () => {
  const { speculation, requests, outcomes } = speculationOf();
  const header = headerAt(1);
  speculation.begin(header);
  const transactions = all(20);
  const block = blockContext({ number: 1 });
  speculation.send(header, transactions);
  requests[0]!.answer(batchOf(requests[0]!.request));
  await turn();
  for (const { tx } of transactions) {
    // The batch is of another message: each is executed.
    speculation.evmOf(header, tx.hash, evm)!.execute({ caller: alice } as never, block, {} as never);
  }
  speculation.begin(headerAt(2));
  assert.deepEqual(outcomes, [["conflict", 20]]);
});
