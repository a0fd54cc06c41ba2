import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ALICE, createTestModules } from "../../../test/support/rpc/test-chain.ts";
import { plainData } from "../../base/threads/plain-data.ts";
import { blockNumber } from "../../rpc/methods/eth/blocks.ts";
import { call } from "../../rpc/methods/eth/execute.ts";
import { feeHistory } from "../../rpc/methods/eth/fees.ts";
import { getLogs } from "../../rpc/methods/eth/filters.ts";
import { getBalance } from "../../rpc/methods/eth/state.ts";
import { inProcessContext } from "../../rpc/transport/dispatch/context.ts";

test("in the chain's thread a method answers in the turn it is called", async () => {
  const modules = createTestModules();
  const context = inProcessContext();
  const answers = () => [
    blockNumber.run(modules, [], context),
    getBalance.run(modules, [ALICE, "latest"], context),
    call.run(modules, [{ to: ALICE }, "latest"], context),
    getLogs.run(modules, [{}], context),
    feeHistory.run(modules, ["0x2", "latest", [50]], context),
  ];
  const areAtOnce = () => answers().every((answer) => !(answer instanceof Promise));
  // On a busy machine the slice of a turn may be over before a search begins.
  for (let attempt = 1; !areAtOnce(); attempt++) {
    assert.ok(attempt < 50, "an answer is a promise each time");
    await setImmediate();
  }
});

test("blockHashes ends at the head and at its limit", () => {
  const { chain, blocks } = createTestModules();
  const hashes = blocks.map(({ block }) => block.hash);
  assert.deepEqual(chain.blockHashes({ first: 0, countMax: 10 }), hashes);
  assert.deepEqual(chain.blockHashes({ first: 1, countMax: 1 }), hashes.slice(1, 2));
  assert.deepEqual(chain.blockHashes({ first: 3, countMax: 10 }), []);
});

test("a log search passes over blocks after the head", async () => {
  const { chain, settings } = createTestModules();
  const found = await chain.logs({
    query: { terms: {}, from: 1, to: 1_000 },
    limits: settings.logLimits,
  });
  assert.deepEqual([found.count, found.end, found.limit], [10, 3, undefined]);
});

test("what the pool holds leaves it as plain data, whatever class the pool gives its entries", async () => {
  const { pooled } = createTestModules();
  class Entry {
    readonly tx = pooled[0]!.tx;
    readonly sender = pooled[0]!.sender;
    readonly arrival = 1;
  }
  const lists = { pending: [new Entry()], queued: [new Entry()] };
  const { chain } = createTestModules({
    pool: {
      get: () => new Entry(),
      content: () => ({
        pending: new Map([[ALICE, lists.pending]]),
        queued: new Map([[ALICE, lists.queued]]),
      }),
      contentFrom: () => lists,
    },
  });
  const plain = { tx: pooled[0]!.tx, sender: pooled[0]!.sender };
  assert.deepEqual(plainData(await chain.pooled({ hash: plain.tx.hash })), plain);
  assert.deepEqual(plainData(await chain.poolContentFrom({ address: ALICE })), {
    pending: [plain],
    queued: [plain],
  });
  assert.deepEqual(plainData(await chain.poolContent()), {
    pending: new Map([[ALICE, [plain]]]),
    queued: new Map([[ALICE, [plain]]]),
  });
});
