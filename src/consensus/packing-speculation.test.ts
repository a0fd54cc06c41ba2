import assert from "node:assert/strict";
import { test } from "node:test";
import {
  GENESIS,
  inputOf,
  openTestApplication,
  proposalOf,
  type TestApplication,
  transferOf,
} from "../../test/support/consensus/test-application.ts";
import type { parseGenesis } from "../base/params/genesis.ts";
import type { Address } from "../base/primitives/address.ts";
import type { Transaction } from "../base/types/transaction/transaction.ts";
import type { BlockParent } from "../evm/execution/block/block-execution.ts";
import { SpeculativeBlock } from "../evm/execution/block/speculative-block.ts";
import {
  contextKey,
  Speculation,
  type SpeculationLane,
  type SpeculationOutcome,
} from "../evm/execution/parallel/speculation.ts";

/** SLOAD 0, add 1, SSTORE 0, LOG0 of nothing: every call depends on the one before. */
const COUNTER = `0x${"c0".repeat(20)}` as Address;
const COUNTER_CODE = Uint8Array.from(Buffer.from("5f546001015f555f5fa000", "hex"));
const GENESIS_WITH_COUNTER = {
  ...GENESIS,
  alloc: new Map([...GENESIS.alloc, [COUNTER, { balance: 0n, nonce: 1n, code: COUNTER_CODE }] as const]),
} satisfies ReturnType<typeof parseGenesis>;

const callOf = (from: number, nonce: number, tip = 1n) =>
  transferOf(from, nonce, { to: COUNTER, value: 0n, gasLimit: 150_000n, maxPriorityFeePerGas: tip * 10n ** 9n });

/** What a thread that follows `node`'s store does, in this one. */
function laneOver(node: () => TestApplication): SpeculationLane {
  let block: { readonly key: string; readonly block: SpeculativeBlock } | undefined;
  return async ({ header, transactions }) => {
    const { chain, execution } = node();
    const parent: BlockParent = {
      header: chain.head().block.header,
      state: chain.stateAt(header.number - 1),
      blockHash: (number) => chain.blockHash(number),
    };
    const key = contextKey(header);
    if (block?.key !== key) block = { key, block: new SpeculativeBlock(header, parent, execution) };
    for (const { tx, sender } of transactions) block.block.execute(tx, sender);
    return structuredClone(block.block.take());
  };
}

function openSpeculating(wrap: (lane: SpeculationLane) => SpeculationLane = (lane) => lane) {
  const outcomes: Record<SpeculationOutcome, number> = { applied: 0, conflict: 0, late: 0 };
  const lane = wrap(laneOver(() => node));
  const speculation = new Speculation([lane], (outcome, count) => {
    outcomes[outcome] += count;
  });
  const node: TestApplication = openTestApplication({ genesis: GENESIS_WITH_COUNTER, speculation });
  return { ...node, outcomes };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Packs ahead until nothing is left to do, or for `turns`; then makes the block. */
async function makeBlock(
  { application, mempool }: TestApplication,
  height: number,
  txs: readonly Transaction[],
  turns = 20,
) {
  for (const tx of txs) mempool.add({ tx });
  const proposal = { ...proposalOf(height), maxTxBytes: 1_000_000 };
  let left = turns;
  while (left-- > 0 && application.prepareAhead!(proposal, 1_000)) await turn();
  return finishBlock(application, height);
}

function finishBlock(application: TestApplication["application"], height: number) {
  const proposal = { ...proposalOf(height), maxTxBytes: 1_000_000 };
  const packed = application.prepareProposal(proposal);
  const input = inputOf(proposal, packed);
  assert.ok(application.processProposal(input));
  const { appHash } = application.finalizeBlock(input);
  application.commit();
  return { hash: appHash, count: packed.length - 1 };
}

const BLOCK = [callOf(0, 0), callOf(1, 0), transferOf(2, 0), callOf(0, 1), callOf(1, 1), callOf(3, 0)];

/** The same block where nothing speculates. */
const serialBlock = () => makeBlock(openTestApplication({ genesis: GENESIS_WITH_COUNTER }), 1, BLOCK);

test("a block packed ahead waits for other threads' executions, applies them, and equals serial execution", async () => {
  const node = openSpeculating();
  assert.deepEqual(await makeBlock(node, 1, BLOCK), await serialBlock());
  // Counted when the next block begins.
  await makeBlock(node, 2, [callOf(0, 2)]);
  assert.deepEqual(node.outcomes, { applied: 5, conflict: 0, late: 0 });
  assert.deepEqual(node.failures, []);
});

test("a thread that never answers costs a block nothing but time", async () => {
  const node = openSpeculating(() => () => new Promise(() => {}));
  assert.deepEqual(await makeBlock(node, 1, BLOCK), await serialBlock());
  await makeBlock(node, 2, [callOf(0, 2)]);
  assert.deepEqual(node.outcomes, { applied: 0, conflict: 0, late: 5 });
});

test("a thread that was lost, or had them in another order, changes no block", async () => {
  for (const wrap of [
    (): SpeculationLane => async () => undefined,
    (lane: SpeculationLane): SpeculationLane =>
      ({ header, transactions }) =>
        lane({ header, transactions: transactions.toReversed() }),
  ]) {
    const node = openSpeculating(wrap);
    assert.deepEqual(await makeBlock(node, 1, BLOCK), await serialBlock());
    assert.deepEqual(node.failures, []);
  }
});

test("a better transaction that comes later begins the block again, from the same executions as far as they hold", async () => {
  const node = openSpeculating();
  const { application, mempool } = node;
  const known = BLOCK.slice(0, -1);
  for (const tx of known) mempool.add({ tx });
  const proposal = { ...proposalOf(1), maxTxBytes: 1_000_000 };
  while (application.prepareAhead!(proposal, 1_000)) await turn();
  const better = callOf(3, 0, 5n);
  mempool.add({ tx: better });
  application.prepareAhead!(proposal, 1_000);
  const made = finishBlock(application, 1);
  const serial = await makeBlock(openTestApplication({ genesis: GENESIS_WITH_COUNTER }), 1, [...known, better], 0);
  assert.deepEqual(made, serial);
});
