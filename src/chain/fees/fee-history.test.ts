import assert from "node:assert/strict";
import { test } from "node:test";
import { config, GWEI, headerOf, transactionOf } from "../../execution/testing/factories.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import { headerHash } from "../../types/header-codec.ts";
import type { Receipt } from "../../types/receipt.ts";
import { createFeeHistory } from "./fee-history.ts";

/** A block whose transactions offer `tips` and use 21000 gas each. */
function block(fields: Partial<Header>, tips: readonly bigint[] = []): ExecutedBlock {
  const header = headerOf({ gasUsed: BigInt(tips.length) * 21_000n, ...fields });
  const transactions = tips.map((maxPriorityFeePerGas) =>
    transactionOf({ maxPriorityFeePerGas, maxFeePerGas: 100n * GWEI }),
  );
  return {
    block: { hash: headerHash(header), header, transactions, uncles: [], withdrawals: [] },
    senders: [],
    receipts: tips.map(() => ({ gasUsed: 21_000n }) as Receipt),
  };
}

function chainOf(blocks: readonly ExecutedBlock[], pending?: ExecutedBlock) {
  return {
    config,
    head: () => blocks.at(-1)!,
    oldest: () => ({ block: 0, state: 0, proof: 0 }),
    blockHash: (number: number) => blocks[number]?.block.hash,
    header: (number: number) => blocks[number]?.block.header,
    block: (number: number) => blocks[number],
    pending: () =>
      pending && {
        executed: pending,
        state: undefined as never,
        changes: { accounts: [], codes: new Map() },
      },
  };
}

const chain = chainOf([
  block({ number: 0 }),
  block({ number: 1, gasUsed: 15_000_000n }),
  block({ number: 2, blobGasUsed: 9n * 131_072n, excessBlobGas: 0n }, [3n, 1n, 2n]),
]);

test("feeHistory gives one more base fee than blocks", () => {
  const history = createFeeHistory(chain)(2, 2, []);
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
  const history = createFeeHistory(chain)(1_000_000, 2, []);
  assert.equal(history.oldestBlock, 0);
  assert.equal(history.gasUsedRatio.length, 3);
});

test("feeHistory gives for each percentile of gas the tip that reaches it", () => {
  const { reward } = createFeeHistory(chain)(2, 2, [0, 33, 34, 67, 100]);
  assert.deepEqual(reward, [
    [0n, 0n, 0n, 0n, 0n],
    [1n, 1n, 2n, 3n, 3n],
  ]);
});

test("feeHistory can end with the pending block", () => {
  const pending = block({ number: 3, baseFeePerGas: 5n });
  const history = createFeeHistory(chainOf([...range(3)], pending))(2, "pending", []);
  assert.equal(history.oldestBlock, 2);
  assert.equal(history.baseFeePerGas[1], 5n);
});

test("feeHistory ends with the head, one block earlier, when there is no pending block", () => {
  const history = createFeeHistory(chain)(2, "pending", []);
  assert.equal(history.oldestBlock, 2);
  assert.equal(history.gasUsedRatio.length, 1);
  assert.equal(createFeeHistory(chain)(1, "pending", []).gasUsedRatio.length, 0);
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
    assert.throws(() => createFeeHistory(chain)(1, 2, percentiles), {
      code: "INVALID_FEE_HISTORY_REQUEST",
      message,
    });
  }
  assert.throws(() => createFeeHistory(chain)(1, 3, []), {
    message: "request beyond head block: requested 3, head 2",
  });
});

test("feeHistory follows the chain after blocks were replaced, and reads whole blocks for rewards alone", () => {
  const blocks = [block({ number: 0 }), block({ number: 1, gasUsed: 15_000_000n }, [7n])];
  let reads = 0;
  const chain = {
    ...chainOf(blocks),
    head: () => blocks[1]!,
    block(number: number) {
      reads++;
      return blocks[number];
    },
  };
  const feeHistory = createFeeHistory(chain);
  assert.deepEqual(feeHistory(1, 1, []).gasUsedRatio, [0.5]);
  assert.equal(reads, 0);
  assert.deepEqual(feeHistory(1, 1, [50]).reward, [[7n]]);
  blocks[1] = block({ number: 1, gasUsed: 30_000_000n }, [9n]);
  assert.deepEqual(feeHistory(1, 1, [50]).gasUsedRatio, [1]);
  assert.deepEqual(feeHistory(1, 1, [50]).reward, [[9n]]);
});

test("feeHistory is shorter where older blocks are pruned, and an error where all are", () => {
  const pruned = { ...chain, oldest: () => ({ block: 1, state: 1, proof: 1 }) };
  assert.equal(createFeeHistory(pruned)(3, 2, []).oldestBlock, 1);
  assert.throws(() => createFeeHistory(pruned)(1, 0, []), { code: "BLOCK_PRUNED" });
});

test("feeHistory gives the same object to the same arguments until a block is replaced", () => {
  const blocks = range(3);
  const feeHistory = createFeeHistory(chainOf(blocks));
  const first = feeHistory(3, 2, [10, 50]);
  assert.equal(feeHistory(3, 2, [10, 50]), first);
  assert.notEqual(feeHistory(3, 2, [10]), first);
  assert.notEqual(feeHistory(2, 2, [10, 50]), first);
  assert.notEqual(feeHistory(3, 1, [10, 50]), first);
  blocks[2] = block({ number: 2, gasUsed: 15_000_000n });
  const next = feeHistory(3, 2, [10, 50]);
  assert.deepEqual(next.gasUsedRatio, [0, 0, 0.5]);
});

test("feeHistory stores sixteen histories, those used last, and none with the pending block or very many fees", () => {
  const feeHistory = createFeeHistory(chainOf(range(3), block({ number: 3 })));
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

function range(count: number): ExecutedBlock[] {
  return Array.from({ length: count }, (_, number) => block({ number }));
}
