import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { ALICE, BOB, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { checksumAddress } from "../../../base/primitives/address.ts";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import type { PooledTransaction } from "../../../consensus/mempool/pool.ts";
import { pendingTransactions } from "../eth/transactions.ts";
import { content, contentFrom, inspect, status } from "./methods.ts";

const modules = createTestModules();
const alice = checksumAddress(ALICE);
type Content = Record<"pending" | "queued", Record<string, Record<string, unknown>>>;

test("txpool_content is keyed by EIP-55 address and decimal nonce", async () => {
  const { pending, queued } = (await content.call(modules)) as Content;
  const tx = pending[alice]!["4"] as Record<string, unknown>;
  assert.equal(tx["hash"], modules.pooled[0]!.tx.hash);
  assert.equal(tx["blockHash"], null);
  assert.deepEqual(Object.keys(queued[alice]!), ["6"]);
});

test("txpool_contentFrom is one sender's part; both keys are always there", async () => {
  const { pending } = (await contentFrom.call(modules, [ALICE])) as Content;
  assert.deepEqual(Object.keys(pending), ["4"]);
  assert.deepEqual(await contentFrom.call(modules, [BOB]), { pending: {}, queued: {} });
});

test("txpool_inspect has one line a transaction", async () => {
  const { pending } = (await inspect.call(modules)) as Content;
  assert.deepEqual(pending[alice], {
    4: `${checksumAddress(BOB)}: 1 wei + 21000 gas × 3000000000 wei`,
  });
});

test("txpool_status counts", async () => {
  assert.deepEqual(await status.call(modules), { pending: "0x1", queued: "0x1" });
});

test("an address without transactions is left out of txpool_content", async () => {
  const pool = {
    content: () => ({ pending: new Map([[ALICE, []]]), queued: new Map() }),
  };
  assert.deepEqual(await content.call(createTestModules({ pool })), { pending: {}, queued: {} });
});

/** A pool of the same pending transaction so many times. */
function poolOf(pooled: PooledTransaction, count: number, timers: Timers = fatalTimers) {
  const list = Array.from({ length: count }, () => pooled);
  const pool = {
    content: () => ({ pending: new Map([[ALICE, list]]), queued: new Map() }),
    contentFrom: () => ({ pending: list, queued: [] }),
  };
  return { ...createTestModules({ pool, timers }), keys: { accounts: async () => [ALICE] } };
}

for (const [name, ask] of Object.entries({
  txpool_content: (ports: ReturnType<typeof poolOf>) => content.call(ports),
  txpool_contentFrom: (ports: ReturnType<typeof poolOf>) => contentFrom.call(ports, [ALICE]),
  eth_pendingTransactions: (ports: ReturnType<typeof poolOf>) => pendingTransactions.call(ports),
})) {
  test(`${name} writes a large pool in slices, between which other work has its turn`, async () => {
    // Each look at the clock, of which there is one for fifty transactions, finds that a millisecond has gone by.
    const large = poolOf(modules.pooled[0]!, 20_000, new ManualTimers({ msPerLook: 1 }));
    let turns = 0;
    let isDone = false;
    const answer = Promise.resolve(ask(large)).then(() => {
      isDone = true;
    });
    while (!isDone) {
      await setImmediate();
      turns++;
    }
    await answer;
    // 400 looks, a few of them in a slice of 3 ms.
    assert.ok(turns >= 80, `${turns} turns`);
  });
}

test("a pool of more than one answer holds is an error that says what to ask for", async () => {
  const pooled = modules.pooled[0]!;
  const heavy = { ...pooled, tx: { ...pooled.tx, data: new Uint8Array(1 << 20) } };
  assert.ok(await content.call(poolOf(heavy, 10)));
  await assert.rejects(content.call(poolOf(heavy, 40)), { code: "RPC_LIMIT_EXCEEDED", message: /txpool_contentFrom/ });
});
