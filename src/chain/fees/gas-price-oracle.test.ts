import assert from "node:assert/strict";
import { test } from "node:test";
import {
  alice,
  coinbase,
  config,
  GWEI,
  headerOf,
  transactionOf,
} from "../../../test/support/evm/execution/factories.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import { headerHash } from "../../base/types/header-codec.ts";
import type { Receipt } from "../../base/types/receipt.ts";
import { gasPaymentsOf } from "../block-store.ts";
import { GasPriceOracle, type GasPriceOracleOptions } from "./gas-price-oracle.ts";

function block(number: number, tips: readonly bigint[], sender: Address = alice): ExecutedBlock {
  const header = headerOf({ number, coinbase, timestamp: number + tips.length });
  const transactions = tips.map((maxPriorityFeePerGas) =>
    transactionOf({ maxPriorityFeePerGas, maxFeePerGas: 10_000n * GWEI }),
  );
  return {
    block: { hash: headerHash(header), header, transactions, uncles: [] },
    senders: tips.map(() => sender),
    receipts: tips.map((tip) => ({ gasUsed: 21_000n, effectiveGasPrice: header.baseFeePerGas! + tip }) as Receipt),
  };
}

function chainOf(blocks: readonly ExecutedBlock[]) {
  return {
    config,
    head: () => blocks.at(-1)!,
    oldest: () => ({ block: 0, state: 0, proof: 0 }),
    blockHash: (number: number) => blocks[number]?.block.hash,
    header: (number: number) => blocks[number]?.block.header,
    gasPayments: (number: number) => blocks[number] && gasPaymentsOf(blocks[number]),
  };
}

function suggest(blocks: readonly ExecutedBlock[], options: Partial<GasPriceOracleOptions> = {}) {
  return new GasPriceOracle(options, chainOf(blocks)).suggestTip();
}

test("the oracle suggests the start price for an empty chain", () => {
  assert.equal(suggest([block(0, [])]), 1_000_000n);
  assert.equal(suggest([block(0, []), block(1, [])]), 1_000_000n);
});

test("the oracle takes the 60th percentile of the three lowest tips of each block", () => {
  // Sorted samples: 10 20 30 40 50 60, index 5 × 60 / 100 = 3.
  const blocks = [block(0, [99n]), block(1, [50n, 30n, 10n, 90n]), block(2, [60n, 20n, 40n])];
  assert.equal(suggest(blocks), 40n);
});

test("the oracle leaves out tiny tips and the miner's own transactions", () => {
  const own = block(2, [7n, 7n, 7n], coinbase);
  assert.equal(suggest([block(0, []), block(1, [0n, 1n, 10n, 10n])]), 10n);
  // The miner's block counts once, with the price suggested last.
  assert.equal(suggest([block(0, []), block(1, [10n, 10n, 10n]), own], { startPrice: 5n }), 10n);
});

test("the oracle asks an older block for each one that gives a single tip", () => {
  const blocks = [block(0, []), block(1, [100n, 100n]), block(2, [100n]), block(3, [5n])];
  // Block 3 and, for it, block 2 and, for that, block 1.
  assert.equal(suggest(blocks, { blocks: 2 }), 100n);
  assert.equal(suggest(blocks, { blocks: 1 }), 5n);
});

test("the oracle samples what there is where older blocks are pruned", () => {
  const head = block(7, [30n, 30n]);
  const chain = {
    ...chainOf([head]),
    oldest: () => ({ block: 7, state: 7, proof: 7 }),
    blockHash(number: number) {
      assert.equal(number, 7, "a fork asks another chain for older ones");
      return head.block.hash;
    },
    header: () => head.block.header,
    gasPayments: () => gasPaymentsOf(head),
  };
  assert.equal(new GasPriceOracle({}, chain).suggestTip(), 30n);
});

test("the oracle never suggests more than its maximum", () => {
  assert.equal(suggest([block(0, []), block(1, [900n * GWEI])]), 500n * GWEI);
});

test("the oracle reads each block once, and again where it was replaced", () => {
  const blocks = [block(0, []), block(1, [10n, 10n])];
  const read: number[] = [];
  const chain = {
    ...chainOf(blocks),
    gasPayments(number: number) {
      read.push(number);
      return gasPaymentsOf(blocks[number]!);
    },
  };
  const oracle = new GasPriceOracle({}, chain);
  assert.deepEqual([oracle.suggestTip(), oracle.suggestTip()], [10n, 10n]);
  blocks.push(block(2, [20n, 20n, 20n]));
  assert.equal(oracle.suggestTip(), 20n);
  assert.deepEqual(read, [1, 2]);
  blocks[2] = block(2, [30n, 30n], coinbase);
  blocks.push(block(3, [40n, 40n, 40n]));
  assert.equal(oracle.suggestTip(), 40n);
  assert.deepEqual(read, [1, 2, 3, 2]);
});
