import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { alice, config, GWEI, headerOf, transactionOf } from "../../../test/support/evm/execution/factories.ts";
import { ZERO_HASH } from "../../base/primitives/hash.ts";
import { SharedSlices } from "../../base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import type { Header } from "../../base/types/header.ts";
import { headerHash } from "../../base/types/header-codec.ts";
import type { Receipt } from "../../base/types/receipt.ts";
import type { GasPayment } from "../block-store.ts";
import { gasPaymentsOf } from "../block-store.ts";
import { FeeHistories, type FeeHistory } from "./fee-history.ts";

/** A block whose transactions offer `tips` and use 21000 gas each. */
function block(fields: Partial<Header>, tips: readonly bigint[] = []): ExecutedBlock {
  const header = headerOf({ gasUsed: BigInt(tips.length) * 21_000n, ...fields });
  const { baseFeePerGas = 0n } = header;
  const transactions = tips.map((maxPriorityFeePerGas) =>
    transactionOf({ maxPriorityFeePerGas, maxFeePerGas: 100n * GWEI }),
  );
  return {
    block: { hash: headerHash(header), header, transactions, uncles: [], withdrawals: [] },
    senders: [],
    receipts: tips.map((tip) => ({ gasUsed: 21_000n, effectiveGasPrice: baseFeePerGas + tip }) as Receipt),
  };
}

type BlockSpec = readonly [fields: Partial<Header>, tips?: readonly bigint[]];

/** Blocks from 0 on, each of which names the one before. */
function linked(...specs: readonly BlockSpec[]): ExecutedBlock[] {
  const blocks: ExecutedBlock[] = [];
  for (const [number, [fields, tips]] of specs.entries()) {
    const parentHash = blocks.at(-1)?.block.hash ?? ZERO_HASH;
    blocks.push(block({ number, parentHash, ...fields }, tips));
  }
  return blocks;
}

function chainOf(blocks: readonly ExecutedBlock[], pending?: ExecutedBlock) {
  return {
    config,
    head: () => blocks.at(-1)!,
    oldest: () => ({ block: 0, state: 0, proof: 0 }),
    blockHash: (number: number) => blocks[number]?.block.hash,
    header: (number: number) => blocks[number]?.block.header,
    gasPayments: (number: number) => blocks[number] && gasPaymentsOf(blocks[number]),
    pending: () =>
      pending && {
        executed: pending,
        state: undefined as never,
        changes: { accounts: [], codes: new Map() },
      },
  };
}

type TestChain = ReturnType<typeof chainOf>;

/** What `FeeHistories` has at once. */
function historiesOf(chain: TestChain) {
  const histories = new FeeHistories(chain, new SharedSlices(new ManualTimers()));
  return (blockCount: number, newest: number | "pending", percentiles: readonly number[]): FeeHistory => {
    const history = histories.history({ blockCount, newest, percentiles });
    assert.ok(!(history instanceof Promise));
    return history;
  };
}

const chain = chainOf(
  linked([{}], [{ gasUsed: 15_000_000n }], [{ blobGasUsed: 9n * 131_072n, excessBlobGas: 0n }, [3n, 1n, 2n]]),
);

test("feeHistory gives one more base fee than blocks", () => {
  const history = historiesOf(chain)(2, 2, []);
  assert.equal(history.oldestBlock, 1);
  assert.deepEqual(history.baseFeePerGas.slice(0, 2), [GWEI, GWEI]);
  assert.equal(history.baseFeePerGas.length, 3);
  assert.ok(history.baseFeePerGas[2]! < GWEI);
  assert.deepEqual(history.gasUsedRatio, [0.5, 63_000 / 30_000_000]);
  assert.deepEqual(history.blobGasUsedRatio, [0, 1]);
  assert.deepEqual(history.baseFeePerBlobGas, [1n, 1n, 1n]);
  assert.equal(history.reward, undefined);
});

test("feeHistory begins at genesis when more is asked for", () => {
  const history = historiesOf(chain)(1_000_000, 2, []);
  assert.equal(history.oldestBlock, 0);
  assert.equal(history.gasUsedRatio.length, 3);
});

test("feeHistory gives for each percentile of gas the tip that reaches it", () => {
  const { reward } = historiesOf(chain)(2, 2, [0, 33, 34, 67, 100]);
  assert.deepEqual(reward, [
    [0n, 0n, 0n, 0n, 0n],
    [1n, 1n, 2n, 3n, 3n],
  ]);
});

test("feeHistory can end with the pending block", () => {
  const pending = block({ number: 3, baseFeePerGas: 5n });
  const history = historiesOf(chainOf([...range(3)], pending))(2, "pending", []);
  assert.equal(history.oldestBlock, 2);
  assert.equal(history.baseFeePerGas[1], 5n);
});

test("feeHistory ends with the head, one block earlier, when there is no pending block", () => {
  const history = historiesOf(chain)(2, "pending", []);
  assert.equal(history.oldestBlock, 2);
  assert.equal(history.gasUsedRatio.length, 1);
  assert.equal(historiesOf(chain)(1, "pending", []).gasUsedRatio.length, 0);
});

test("feeHistory rejects bad percentiles and blocks to come", () => {
  const rejected: readonly (readonly [readonly number[], string])[] = [
    [new Array(101).fill(0), "invalid reward percentile: over the query limit 100"],
    [[101], "invalid reward percentile: 101.000000"],
    [[-1], "invalid reward percentile: -1.000000"],
    [[20, 10], "invalid reward percentile: #0:20.000000 >= #1:10.000000"],
    [[10, 10], "invalid reward percentile: #0:10.000000 >= #1:10.000000"],
  ];
  for (const [percentiles, message] of rejected) {
    assert.throws(() => historiesOf(chain)(1, 2, percentiles), {
      code: "INVALID_FEE_HISTORY_REQUEST",
      message,
    });
  }
  assert.throws(() => historiesOf(chain)(1, 3, []), {
    message: "request beyond head block: requested 3, head 2",
  });
});

test("feeHistory follows the chain after blocks were replaced, and reads whole blocks for rewards alone", () => {
  const blocks = linked([{}], [{ gasUsed: 15_000_000n }, [7n]]);
  let reads = 0;
  const chain = {
    ...chainOf(blocks),
    head: () => blocks[1]!,
    gasPayments(number: number) {
      reads++;
      return blocks[number] && gasPaymentsOf(blocks[number]);
    },
  };
  const feeHistory = historiesOf(chain);
  assert.deepEqual(feeHistory(1, 1, []).gasUsedRatio, [0.5]);
  assert.equal(reads, 0);
  assert.deepEqual(feeHistory(1, 1, [50]).reward, [[7n]]);
  blocks[1] = block({ number: 1, gasUsed: 30_000_000n }, [9n]);
  assert.deepEqual(feeHistory(1, 1, [50]).gasUsedRatio, [1]);
  assert.deepEqual(feeHistory(1, 1, [50]).reward, [[9n]]);
});

test("feeHistory is shorter where older blocks are pruned, and an error where all are", () => {
  const pruned = {
    ...chain,
    oldest: () => ({ block: 1, state: 1, proof: 1 }),
    blockHash(number: number) {
      assert.ok(number >= 1, "a fork asks another chain for older ones");
      return chain.blockHash(number);
    },
  };
  assert.equal(historiesOf(pruned)(3, 2, []).oldestBlock, 1);
  assert.throws(() => historiesOf(pruned)(1, 0, []), { code: "BLOCK_PRUNED" });
});

test("feeHistory gives the same object to the same arguments until a block is replaced", () => {
  const blocks = range(3);
  const feeHistory = historiesOf(chainOf(blocks));
  const first = feeHistory(3, 2, [10, 50]);
  assert.equal(feeHistory(3, 2, [10, 50]), first);
  assert.notEqual(feeHistory(3, 2, [10]), first);
  assert.notEqual(feeHistory(2, 2, [10, 50]), first);
  assert.notEqual(feeHistory(3, 1, [10, 50]), first);
  blocks[2] = block({ number: 2, parentHash: blocks[1]!.block.hash, gasUsed: 15_000_000n });
  const next = feeHistory(3, 2, [10, 50]);
  assert.deepEqual(next.gasUsedRatio, [0, 0, 0.5]);
});

test("feeHistory stores sixteen histories, those used last, and none with the pending block or very many fees", () => {
  const feeHistory = historiesOf(chainOf(range(3), block({ number: 3 })));
  const used = feeHistory(1, 2, [0]);
  const unused = feeHistory(1, 2, [1]);
  for (let percentile = 2; percentile < 16; percentile++) feeHistory(1, 2, [percentile]);
  assert.equal(feeHistory(1, 2, [0]), used);
  feeHistory(1, 2, [16]);
  assert.equal(feeHistory(1, 2, [0]), used);
  assert.notEqual(feeHistory(1, 2, [1]), unused);
  assert.notEqual(feeHistory(1, "pending", []), feeHistory(1, "pending", []));
  const many = Array.from({ length: 100 }, (_, percentile) => percentile);
  assert.notEqual(feeHistory(100, 2, many), feeHistory(100, 2, many));
});

test("feeHistory lets other work run between blocks that it has to read, and reads none twice", async () => {
  const blocks = linked(...Array.from({ length: 10 }, (_, number): BlockSpec => [{}, [BigInt(number)]]));
  const read: number[] = [];
  const chain = {
    ...chainOf(blocks),
    gasPayments(number: number) {
      read.push(number);
      return gasPaymentsOf(blocks[number]!);
    },
  };
  const slices = new SharedSlices(new ManualTimers({ msPerLook: 1 }), { sliceMs: 3 });
  const histories = new FeeHistories(chain, slices);
  const request = { blockCount: 10, newest: 9, percentiles: [50] };
  const first = histories.history(request);
  assert.ok(first instanceof Promise);
  assert.ok(read.length < 10);
  const wanted = Array.from({ length: 10 }, (_, number) => [BigInt(number)]);
  assert.deepEqual((await first).reward, wanted);
  assert.deepEqual(
    read,
    Array.from({ length: 10 }, (_, i) => 9 - i),
  );
  assert.equal(histories.history(request), await first);
  // Two blocks are removed meanwhile: what was asked for by number is not there any more, and the newest block is another.
  const interrupted = histories.history({ ...request, percentiles: [60] });
  const latest = histories.history({ blockCount: 9, newest: "latest", percentiles: [60] });
  blocks.splice(8);
  await assert.rejects(async () => interrupted, { message: "request beyond head block: requested 9, head 7" });
  assert.equal((await latest).oldestBlock, 0);
  assert.equal((await latest).gasUsedRatio.length, 8);
});

test("feeHistory caches the tips of as many blocks as fit, those used last", () => {
  const blocks = range(3);
  const { baseFeePerGas } = blocks[0]!.block.header;
  const payments = Array.from(
    { length: 70_000 },
    (_, tip): GasPayment => ({
      sender: alice,
      gasUsed: 21_000n,
      effectiveGasPrice: baseFeePerGas! + BigInt(tip),
    }),
  );
  const read: number[] = [];
  const chain = {
    ...chainOf(blocks),
    gasPayments(number: number) {
      read.push(number);
      return payments;
    },
  };
  const feeHistory = historiesOf(chain);
  for (const [newest, percentile] of [
    [1, 1],
    [1, 2],
    [2, 3],
    [2, 4],
    [1, 5],
  ] as const) {
    feeHistory(1, newest, [percentile]);
  }
  assert.deepEqual(read, [1, 2, 1]);
});

function range(count: number): ExecutedBlock[] {
  return linked(...Array.from({ length: count }, (): BlockSpec => [{}]));
}
