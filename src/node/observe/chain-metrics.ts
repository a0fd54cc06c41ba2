import type { Metrics } from "../../telemetry/metrics.ts";
import type { ChainCore } from "../compose/compose-chain.ts";
import type { Fork } from "../compose/open-fork.ts";

/** Counts what the chain role does. */
export function declareChainMetrics(
  metrics: Metrics,
  core: Pick<
    ChainCore,
    | "chain"
    | "store"
    | "cacheBytes"
    | "fork"
    | "mempool"
    | "stalled"
    | "journaled"
    | "blobWorkers"
    | "badBlocks"
  >,
): void {
  const { chain, stalled } = core;
  declarePoolMetrics(metrics, core);
  metrics.gaugeOf({ name: "head_number", help: "Number of the newest block." }, () => {
    return chain.head().block.header.number;
  });
  metrics.gaugeOf({ name: "head_timestamp_seconds", help: "Time of the newest block." }, () => {
    return chain.head().block.header.timestamp;
  });
  const gauge = (name: string, help: string, read: () => number) =>
    metrics.gaugeOf({ name, help }, read);
  gauge("oldest_block", "Number of the oldest block that is served.", () => chain.oldest().block);
  gauge(
    "oldest_state",
    "Number of the oldest block whose state is served.",
    () => chain.oldest().state,
  );
  gauge(
    "oldest_proof",
    "Number of the oldest block whose proofs are served.",
    () => chain.oldest().proof,
  );
  metrics.gaugeOf(
    { name: "blocks_stalled", help: "1 while blocks cannot be stored, for want of space say." },
    () => (stalled() === undefined ? 0 : 1),
  );
  metrics.gaugeOf({ name: "resident_memory_bytes", help: "Memory of the process." }, () => {
    return process.memoryUsage.rss();
  });
  declareCacheMetrics(metrics, core);
  if (core.fork) declareForkMetrics(metrics, core.fork);
  if (core.store.addressIndex.isOn) {
    metrics.gaugeOf(
      { name: "address_index_blocks", help: "Blocks that are in the index of addresses." },
      () => core.store.addressIndex.indexedBlocks,
    );
  }
  metrics.gaugeOf(
    { name: "bad_blocks", help: "Rejected blocks that are stored for debug_getBadBlocks." },
    () => core.badBlocks.size,
  );
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

/** The parts of `cache.size`. */
function declareCacheMetrics(
  metrics: Metrics,
  { cacheBytes }: Pick<ChainCore, "cacheBytes">,
): void {
  const gauge = (name: string, help: string, read: () => number) =>
    metrics.gaugeOf({ name, help }, read);
  gauge("cache_trie_bytes", "Memory of cached trie nodes.", () => cacheBytes().trieNodes);
  gauge(
    "cache_state_bytes",
    "Memory of cached accounts and slots of the newest state.",
    () => cacheBytes().headState,
  );
  gauge(
    "cache_old_states_bytes",
    "Memory of cached accounts and slots of older states.",
    () => cacheBytes().historicStates,
  );
  gauge("cache_blocks_bytes", "Memory of decoded blocks.", () => cacheBytes().blocks);
  gauge("cache_codes_bytes", "Memory of codes read last.", () => cacheBytes().codes);
  gauge("cache_log_texts_bytes", "Memory of JSON of logs.", () => cacheBytes().logTexts);
}

function declareForkMetrics(metrics: Metrics, { cacheBytes, uncached }: Fork): void {
  metrics.gaugeOf(
    { name: "fork_cache_bytes", help: "Memory of what was read of the forked chain." },
    cacheBytes,
  );
  metrics.gaugeOf(
    { name: "fork_cache_rejected", help: "Results of the forked chain that found no place in it." },
    uncached,
  );
}

function declarePoolMetrics(
  metrics: Metrics,
  { mempool, journaled, blobWorkers }: Pick<ChainCore, "mempool" | "journaled" | "blobWorkers">,
): void {
  const gauge = (name: string, help: string, read: () => number) =>
    metrics.gaugeOf({ name, help }, read);
  gauge("mempool_pending", "Executable transactions waiting.", () => mempool.counts().pending);
  gauge("mempool_queued", "Transactions after a nonce gap.", () => mempool.counts().queued);
  gauge("mempool_bytes", "Memory of all pooled transactions.", () => mempool.bytes().all);
  gauge("mempool_queued_bytes", "Part of it after a nonce gap.", () => mempool.bytes().queued);
  gauge("mempool_blob_bytes", "Part of it with blobs.", () => mempool.bytes().blobs);
  gauge(
    "mempool_blob_verifications",
    "Blob transactions being verified or waiting for it.",
    () => blobWorkers.waiting().verifications,
  );
  gauge(
    "mempool_wrong_blob_proofs",
    "Sidecars of callers and peers whose proofs did not hold, since the start.",
    () => blobWorkers.wrongProofs(),
  );
  gauge(
    "mempool_blob_proofs",
    "Requests for proofs of blobs, running or waiting.",
    () => blobWorkers.waiting().proofs,
  );
  const removed = metrics.counter({
    name: "txpool_removed_total",
    help: "Transactions that left the pool, by reason.",
    labels: ["reason"],
  });
  mempool.onRemoved((_, reason) => removed.add(1, { reason }));
  if (journaled === undefined) return;
  gauge("mempool_journal_bytes", "Size of the journal of waiting transactions.", () =>
    journaled.journalBytes(),
  );
  gauge(
    "mempool_journal_write_failures",
    "Writes to the journal that failed since the start.",
    () => journaled.writeFailures(),
  );
  const { restored, rejected, undecodable, lostBytes } = journaled.restoreResult;
  gauge("mempool_restored", "Transactions restored at the start.", () => restored);
  gauge(
    "mempool_journal_undecodable",
    "Journal records that held no transaction.",
    () => undecodable,
  );
  gauge("mempool_journal_lost_bytes", "Bytes of the journal that held no record.", () => lostBytes);
  const rejections = metrics.counter({
    name: "mempool_restore_rejected_total",
    help: "Journaled transactions that the pool rejected at the start, by code.",
    labels: ["code"],
  });
  for (const [code, count] of rejected) rejections.add(count, { code });
}
