import type { Metrics } from "../telemetry/metrics.ts";
import type { ChainCore } from "./compose-chain.ts";

/** Counts what the chain role does. */
export function declareChainMetrics(
  metrics: Metrics,
  {
    chain,
    mempool,
    stalled,
    journalBytes,
  }: Pick<ChainCore, "chain" | "mempool" | "stalled" | "journalBytes">,
): void {
  metrics.gaugeOf({ name: "head_number", help: "Number of the newest block." }, () => {
    return chain.head().block.header.number;
  });
  metrics.gaugeOf({ name: "head_timestamp_seconds", help: "Time of the newest block." }, () => {
    return chain.head().block.header.timestamp;
  });
  metrics.gaugeOf(
    { name: "blocks_stalled", help: "1 while blocks cannot be stored, for want of space say." },
    () => (stalled() === undefined ? 0 : 1),
  );
  metrics.gaugeOf({ name: "mempool_pending", help: "Executable transactions waiting." }, () => {
    return mempool.counts().pending;
  });
  metrics.gaugeOf({ name: "mempool_queued", help: "Transactions behind a nonce gap." }, () => {
    return mempool.counts().queued;
  });
  metrics.gaugeOf(
    { name: "mempool_journal_bytes", help: "Size of the journal of waiting transactions." },
    journalBytes,
  );
  metrics.gaugeOf({ name: "resident_memory_bytes", help: "Memory of the process." }, () => {
    return process.memoryUsage.rss();
  });
  const blocks = metrics.counter({ name: "blocks_total", help: "Blocks committed." });
  const transactions = metrics.counter({
    name: "transactions_total",
    help: "Transactions in committed blocks.",
  });
  const gas = metrics.counter({ name: "gas_used_total", help: "Gas used in committed blocks." });
  chain.subscribe(({ executed: { block } }) => {
    blocks.add();
    transactions.add(block.transactions.length);
    gas.add(Number(block.header.gasUsed));
  });
}
