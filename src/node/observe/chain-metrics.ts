import { forkId } from "../../base/params/fork-id.ts";
import { declareGauges, type Metrics } from "../../base/telemetry/metrics.ts";
import type { CacheSizes } from "../../chain/store/cache-sizes.ts";
import type { JournaledPool } from "../../consensus/mempool/journaled-pool.ts";
import type { ChainParts, PoolParts, ProductionParts } from "../adapters/parts.ts";

/** The parts of a chain that metrics report. */
type MeasuredChain = Pick<ChainParts, "chain" | "store"> & {
  readonly opened: {
    /** Its timestamp is in Unix seconds. */
    readonly genesis: { readonly timestamp: number };
    /** Current memory of each cache. */
    readonly cacheBytes: () => CacheSizes;
    readonly fork: { readonly cacheBytes: () => number; readonly uncached: () => number } | undefined;
  };
  readonly production: Pick<ProductionParts, "badBlocks"> & {
    /** Why block production is stopped; undefined if it is not. */
    stalled(): unknown;
  };
  readonly pool: Pick<PoolParts, "mempool"> & {
    readonly journaled: JournaledPool | undefined;
    readonly blobWorkers: {
      wrongProofs(): number;
      waiting(): { readonly verifications: number; readonly proofs: number };
    };
    readonly authorityRecovery: { readonly waiting: number };
  };
};

/** A block number and time after every fork. */
const ALL = Number.MAX_SAFE_INTEGER;

/** Declares the gauges and counters of a chain, its pool and its caches. */
export function declareChainMetrics(metrics: Metrics, measured: MeasuredChain): void {
  const { chain, store, production, pool } = measured;
  const { cacheBytes, fork, genesis } = measured.opened;
  declareGauges(metrics, {
    head_number: ["Number of the newest block.", () => chain.head().block.header.number],
    head_timestamp_seconds: ["Time of the newest block.", () => chain.head().block.header.timestamp],
    fork_schedule_hash: [
      "EIP-2124 hash of the genesis block and all scheduled forks, as a number; equal on nodes with equal rules.",
      () => Number(forkId(chain.config, chain.genesisHash, genesis.timestamp, ALL, ALL).hash),
    ],
    oldest_block: ["Number of the oldest stored block.", () => chain.oldest().block],
    oldest_state: ["Number of the oldest block whose state is stored.", () => chain.oldest().state],
    oldest_proof: ["Number of the oldest block whose state can be proven.", () => chain.oldest().proof],
    blocks_stalled: [
      "1 while blocks cannot be stored, for example on a full disk.",
      () => (production.stalled() === undefined ? 0 : 1),
    ],
    resident_memory_bytes: ["Memory of the process.", () => process.memoryUsage.rss()],
    bad_blocks: ["Rejected blocks that are stored for debug_getBadBlocks.", () => production.badBlocks.size],
    cache_trie_bytes: ["Memory of cached trie nodes.", () => cacheBytes().trieNodes],
    cache_state_bytes: ["Memory of cached accounts and slots of the newest state.", () => cacheBytes().headState],
    cache_old_states_bytes: ["Memory of cached accounts and slots of older states.", () => cacheBytes().historicStates],
    cache_blocks_bytes: ["Memory of decoded blocks.", () => cacheBytes().blocks],
    cache_codes_bytes: ["Memory of recently read contract codes.", () => cacheBytes().codes],
    cache_log_texts_bytes: ["Memory of cached log JSON.", () => cacheBytes().logTexts],
  });
  if (fork) {
    declareGauges(metrics, {
      fork_cache_bytes: ["Memory of state read from the forked chain.", fork.cacheBytes],
      fork_cache_rejected: ["Results of the forked chain that did not fit into that memory.", fork.uncached],
    });
  }
  if (store.addressIndex.isOn) {
    declareGauges(metrics, {
      address_index_blocks: ["Blocks in the address index.", () => store.addressIndex.indexedBlocks],
    });
  }
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
  declarePoolMetrics(metrics, pool);
}

function declarePoolMetrics(metrics: Metrics, pool: MeasuredChain["pool"]): void {
  const { mempool, journaled, blobWorkers, authorityRecovery } = pool;
  declareGauges(metrics, {
    mempool_pending: ["Executable transactions waiting.", () => mempool.counts().pending],
    mempool_queued: ["Transactions after a nonce gap.", () => mempool.counts().queued],
    mempool_bytes: ["Memory of all pooled transactions.", () => mempool.bytes().all],
    mempool_queued_bytes: ["Memory of pooled transactions after a nonce gap.", () => mempool.bytes().queued],
    mempool_blob_bytes: ["Memory of pooled transactions with blobs.", () => mempool.bytes().blobs],
    mempool_blob_verifications: [
      "Blob transactions in verification or waiting for it.",
      () => blobWorkers.waiting().verifications,
    ],
    mempool_wrong_blob_proofs: [
      "Sidecars from callers and peers with invalid proofs since the start.",
      () => blobWorkers.wrongProofs(),
    ],
    mempool_authority_recoveries: [
      "Set code transactions whose signers are being recovered, or that wait for it.",
      () => authorityRecovery.waiting,
    ],
    mempool_blob_proofs: ["Requests for proofs of blobs, running or waiting.", () => blobWorkers.waiting().proofs],
  });
  const removed = metrics.counter({
    name: "txpool_removed_total",
    help: "Transactions that left the pool, by reason.",
    labels: ["reason"],
  });
  mempool.onRemoved((_, reason) => removed.add(1, { reason }));
  if (journaled === undefined) return;
  const { restored, rejected, undecodable, lostBytes } = journaled.restoreResult;
  declareGauges(metrics, {
    mempool_journal_bytes: ["Size of the journal of waiting transactions.", () => journaled.journalBytes()],
    mempool_journal_write_failures: ["Failed writes to the journal since the start.", () => journaled.writeFailures()],
    mempool_restored: ["Transactions restored at the start.", () => restored],
    mempool_journal_undecodable: ["Journal records without a valid transaction.", () => undecodable],
    mempool_journal_lost_bytes: ["Bytes of the journal without a valid record.", () => lostBytes],
  });
  const rejections = metrics.counter({
    name: "mempool_restore_rejected_total",
    help: "Journaled transactions that the pool rejected at the start, by code.",
    labels: ["code"],
  });
  for (const [code, count] of rejected) rejections.add(count, { code });
}
