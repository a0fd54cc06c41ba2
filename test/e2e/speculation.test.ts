import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { genesisText, senderKeys, signAll } from "../../bench/throughput/workload.ts";
import { executeBlock } from "../../src/evm/execution/block/execute-block.ts";
import { metricOf, WITH_METRICS } from "../support/metrics.ts";
import { callHttp } from "../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

/** Those of five minutes of blocks: only threads that never execute ahead come to the end. */
const TRANSACTIONS_MAX = 20_000;
/** Sent between two blocks. On a loaded machine some come too late to be executed ahead. */
const GROUP = 40;
const APPLIED_MIN = 10;

const applied = (node: TestNode) => metricOf(node, "speculated_transactions_total", 'outcome="applied"');

/** Every block of the chain, executed serially from its parent. */
function assertSerial({ node }: TestNode): number {
  const { chain, store, execution } = node.core;
  const { config, stateTrie, evm } = execution;
  const head = chain.head().block.header.number;
  for (let number = 1; number <= head; number++) {
    const { block, receipts, senders } = store.block(number)!;
    const parent = {
      header: store.block(number - 1)!.block.header,
      state: chain.stateAt(number - 1),
      blockHash: (of: number) => store.blockHash(of),
    };
    const outcome = executeBlock(block, parent, { config, stateTrie, evm }, { senders });
    assert.deepEqual(outcome.receipts, receipts);
  }
  return head;
}

test("blocks at intervals apply what other threads executed, and are those of serial execution", async () => {
  const folder = mkdtempSync(join(tmpdir(), "evmint-speculation-"));
  const genesis = join(folder, "genesis.json");
  const keys = senderKeys(20);
  writeFileSync(genesis, genesisText(keys));
  const settings = { "consensus.block-time": "600ms", "evm.speculation-threads": "2", ...WITH_METRICS };
  const node = await startTestNode({ genesis, settings });
  try {
    let swaps = signAll("swap", keys, 10 * GROUP);
    let sent = 0;
    const head = () => node.node.core.chain.head().block.header.number;
    while ((await applied(node)) < APPLIED_MIN) {
      assert.ok(sent < TRANSACTIONS_MAX, `${sent} sent, ${await applied(node)} applied`);
      if (sent === swaps.length) swaps = signAll("swap", keys, 2 * sent);
      for (const { raw } of swaps.slice(sent, sent + GROUP)) await callHttp(node.url, "eth_sendRawTransaction", [raw]);
      sent += GROUP;
      await node.untilBlock(head() + 1);
    }
    while (node.node.core.pool.mempool.counts().pending > 0) await node.untilBlock(head() + 1);
    assert.ok(assertSerial(node) > 1);
  } finally {
    await node.stop();
    rmSync(folder, { recursive: true });
  }
});
