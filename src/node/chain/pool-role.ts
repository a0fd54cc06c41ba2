import { submissionRulesOf } from "../../adapters/rpc-settings.ts";
import type { Config } from "../../config/config.ts";
import { isInMemory, poolPath, quarantinePath } from "../../config/home.ts";
import { openQuarantine, QUARANTINE_LIMITS, type Quarantine, type SetAside } from "../../consensus/quarantine.ts";
import { type JournaledPool, journalPool } from "../../mempool/journaled-pool.ts";
import { Mempool } from "../../mempool/mempool.ts";
import { PeerSubmissions } from "../../mempool/peer-submissions.ts";
import { BLOB_QUEUE_LIMITS, MEMPOOL_DEFAULTS, QUEUE_LIMITS, type Submission } from "../../mempool/pool.ts";
import { createSubmit, type Submit } from "../../mempool/submission.ts";
import { type BlobWorkers, createBlobWorkers } from "../../services/blob-workers.ts";
import { openLogDirectory } from "../../storage/log-file.ts";
import type { Failures } from "../../telemetry/failures.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { OpenChain } from "./open-chain.ts";

/** How often the pool looks for transactions that waited too long. */
const STALE_SWEEP_MS = 60_000;

export type PoolRoleModules = {
  readonly opened: OpenChain;
  readonly log: Logger;
  readonly failures: Failures;
  readonly metrics: Metrics;
  /** The submission as the pool takes it: on dev chains with the sender of a transaction that nobody signed. */
  readonly withSender: (submission: Submission) => Submission;
};

/** Transactions on their way into blocks: the pool, its journal, what verifies blobs, and what crashed the executor. */
export class PoolRole {
  readonly mempool: Mempool;
  /** Undefined where it is switched off. */
  readonly journaled: JournaledPool | undefined;
  readonly blobWorkers: BlobWorkers;
  readonly quarantine: Quarantine;
  /** Submits a transaction of a caller. */
  readonly submit: Submit;
  readonly fromPeers: PeerSubmissions;
  readonly #modules: PoolRoleModules;
  #sweep: NodeJS.Timeout | undefined;

  constructor(config: Config, modules: PoolRoleModules) {
    this.#modules = modules;
    const log = modules.log.child("mempool");
    this.mempool = createMempool(config, modules.opened, log);
    this.journaled =
      config.mempool.journal && !isInMemory(config)
        ? journalPool(this.mempool, openLogDirectory(poolPath(config.home)), log)
        : undefined;
    this.blobWorkers = createBlobWorkers(BLOB_QUEUE_LIMITS, log);
    this.quarantine = openQuarantine(
      {
        directory: quarantinePath(config.home),
        bytesMax: QUARANTINE_LIMITS.bytesMax,
      },
      { now: Date.now },
    );
    // The journal has them where the process ended before their removal was written.
    for (const hash of this.quarantine.hashes()) this.mempool.remove(hash, "quarantined");
    const pool = {
      add: (submission: Submission) => this.#add(submission),
      checkBlob: this.mempool.checkBlob.bind(this.mempool),
    };
    this.submit = createSubmit(submissionRulesOf(config.jsonRpc), {
      pool,
      blobs: this.blobWorkers,
    });
    this.fromPeers = new PeerSubmissions({ pool, blobs: this.blobWorkers, log });
  }

  /** A damaged store is not the transaction's fault: that one only misses this block. */
  readonly setAside: SetAside = ({ transaction, cause }) => {
    const { failures, log } = this.#modules;
    const { hash } = transaction;
    if (failures.report("executor", cause, { hash }) === "operator") return;
    this.mempool.remove(hash, "quarantined");
    try {
      this.quarantine.add(transaction, cause);
    } catch (error) {
      failures.report("quarantine", error, { hash });
    }
    log.error("transaction quarantined", { hash });
  };

  /** Follows the chain. It must be its first subscriber, so that every later one finds chain and pool in agreement. */
  follow(): void {
    const { chain } = this.#modules.opened;
    chain.subscribe(({ executed, changes }) => {
      const { header } = executed.block;
      this.mempool.onHead({
        header,
        state: chain.stateAt(header.number),
        changed: changes.accounts.map(({ address }) => address),
        included: executed.block.transactions.map(({ hash }) => hash),
      });
    });
    // Transactions of removed blocks are not pooled again: an instant chain would include them at once.
    chain.onRollback(() => {
      const { header } = chain.head().block;
      this.mempool.onHead({ header, state: chain.stateAt(header.number) });
      this.journaled?.forgetIncluded();
    });
  }

  start(): void {
    const { failures, metrics } = this.#modules;
    this.#sweep = setInterval(
      failures.guard("pool sweep", () => this.mempool.removeStale()),
      STALE_SWEEP_MS,
    );
    metrics.gaugeOf({ name: "quarantined_transactions", help: "Transactions that crashed the executor." }, () =>
      this.quarantine.size(),
    );
  }

  stop(): void {
    clearInterval(this.#sweep);
    this.blobWorkers.close();
    this.journaled?.close();
  }

  #add(submission: Submission): void {
    this.quarantine.assertAllowed(submission.tx.hash);
    this.mempool.add(this.#modules.withSender(submission));
  }
}

function createMempool({ mempool }: Config, { chain }: OpenChain, log: Logger): Mempool {
  const { minimumGasPriceWei } = mempool;
  const { minimumTip } = MEMPOOL_DEFAULTS;
  const { header } = chain.head().block;
  const pool = new Mempool(
    {
      minimumTip: minimumGasPriceWei > minimumTip ? minimumGasPriceWei : minimumTip,
      priceBump: mempool.priceBumpPercent,
      accountSlots: mempool.accountSlots,
      accountQueue: mempool.accountSlots,
      bytesMax: mempool.bytesMax,
      queuedBytesMax: (mempool.bytesMax * QUEUE_LIMITS.sharePercent) / 100,
      blobBytesMax: mempool.blobBytesMax,
    },
    {
      config: chain.config,
      head: { header, state: chain.stateAt(header.number) },
      // For time spans only; a clock that is set must not end them early.
      now: () => performance.now(),
    },
  );
  pool.onRemoved(({ tx: { hash } }, reason) => {
    if (log.enabled("debug")) log.debug("transaction removed", { hash, reason });
  });
  return pool;
}
