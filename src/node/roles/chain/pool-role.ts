import { resolve } from "node:path";
import type { Timer } from "../../../base/telemetry/timers.ts";
import type { Chain } from "../../../chain/chain.ts";
import { Pace } from "../../../consensus/cometbft/pace.ts";
import { BacklogGate } from "../../../consensus/mempool/backlog-gate.ts";
import { type JournaledPool, journalPool } from "../../../consensus/mempool/journaled-pool.ts";
import { Mempool } from "../../../consensus/mempool/mempool.ts";
import { PeerSubmissions } from "../../../consensus/mempool/peer-submissions.ts";
import { BLOB_QUEUE_LIMITS, MEMPOOL_DEFAULTS, QUEUE_LIMITS, type Submission } from "../../../consensus/mempool/pool.ts";
import { Submissions, type Submit } from "../../../consensus/mempool/submission.ts";
import { openQuarantine, QUARANTINE_LIMITS, type Quarantine, type SetAside } from "../../../consensus/quarantine.ts";
import { InvalidBlockError } from "../../../evm/execution/errors.ts";
import { changedAddresses } from "../../../evm/state/state-changes.ts";
import { openLogDirectory } from "../../../store/storage/log/log-file.ts";
import { submissionRulesOf } from "../../adapters/rpc-settings.ts";
import { AccountPermissions } from "../../config/account-permissions.ts";
import type { Config } from "../../config/config.ts";
import { isInMemory, poolPath, quarantinePath } from "../../config/home.ts";
import { AUTHORITY_QUEUE_MAX, AuthorityRecoveryThread } from "../../services/authority-recovery.ts";
import { type BlobWorkers, createBlobWorkers } from "../../services/blob-workers.ts";
import type { NodeTools } from "../node-tools.ts";
import type { OpenChain } from "./open-chain.ts";

/** Interval at which the pool drops transactions that waited too long. */
const STALE_SWEEP_MS = 60_000;

export type PoolRoleModules = NodeTools & {
  readonly opened: OpenChain;
  /** Adapts a submission: a dev chain adds the sender of unsigned transactions and rejects those that would wait forever. */
  readonly admit: (submission: Submission) => Submission;
  /** For tests that die at a named step of the journal. */
  readonly failPoint?: ((name: string) => void) | undefined;
};

/**
 * Transactions before they are in a block: the pool, its journal, their verification in other threads, and the quarantine of those that crashed
 * the executor.
 */
export class PoolRole {
  readonly mempool: Mempool;
  /** Undefined if disabled. */
  readonly journaled: JournaledPool | undefined;
  readonly blobWorkers: BlobWorkers;
  readonly authorityRecovery: AuthorityRecoveryThread;
  readonly quarantine: Quarantine;
  /** Submits a transaction of a caller. */
  readonly submit: Submit;
  readonly fromPeers: PeerSubmissions;
  readonly #config: Config;
  readonly #modules: PoolRoleModules;
  readonly #gate: BacklogGate | undefined;
  /** The chain's minimum tip at the last block. */
  #agreedTip: bigint | undefined;
  #sweep: Timer | undefined;
  #isRunning = false;

  constructor(config: Config, modules: PoolRoleModules) {
    this.#config = config;
    this.#modules = modules;
    this.#agreedTip = modules.opened.chain.config.minimumTip;
    const { failPoint, timers, machineTimers } = modules;
    const log = modules.log.child("mempool");
    this.mempool = createMempool(config, modules.opened, { log, timers });
    this.journaled = !isInMemory(config)
      ? journalPool(this.mempool, {
          directory: openLogDirectory(poolPath(config.home)),
          keepsRejected: modules.opened.store.isUnchecked,
          log,
          failPoint,
        })
      : undefined;
    this.blobWorkers = createBlobWorkers(BLOB_QUEUE_LIMITS, { log, timers: machineTimers });
    this.authorityRecovery = new AuthorityRecoveryThread(AUTHORITY_QUEUE_MAX, { log, timers: machineTimers });
    this.quarantine = openQuarantine(
      {
        directory: quarantinePath(config.home),
        bytesMax: QUARANTINE_LIMITS.bytesMax,
      },
      { now: Date.now },
    );
    // The journal still has them if the process ended before it recorded their removal.
    for (const hash of this.quarantine.hashes()) this.mempool.remove(hash, "quarantined");
    const pool = {
      add: (submission: Submission) => this.#add(submission),
      checkGasLimit: this.mempool.checkGasLimit.bind(this.mempool),
      checkBlob: this.mempool.checkBlob.bind(this.mempool),
      checkSetCode: this.mempool.checkSetCode.bind(this.mempool),
    };
    const { blobWorkers: blobs, authorityRecovery: authorities, mempool } = this;
    const { submit } = new Submissions(submissionRulesOf(config.jsonRpc), { pool, blobs, authorities });
    const gate = createBacklogGate(config, modules.opened.chain, mempool, modules);
    this.#gate = gate;
    this.submit = (transaction, sender) => {
      gate?.assertOpen("caller");
      return submit(transaction, sender);
    };
    this.fromPeers = new PeerSubmissions({
      pool,
      blobs,
      authorities,
      assertOpen: () => gate?.assertOpen("peer"),
      log,
      timers,
    });
  }

  /** A damaged store is not the transaction's fault: the transaction is only left out of this block. */
  readonly setAside: SetAside = ({ transaction, cause }) => {
    const { failures, log, opened } = this.#modules;
    const { hash } = transaction;
    // A transaction that breaks a block rule is its sender's fault.
    const broken = cause instanceof InvalidBlockError ? cause.message : undefined;
    if (broken === undefined && failures.report("executor", cause, { hash }) === "operator") return;
    // Reads of an unchecked store may be wrong.
    if (opened.store.isUnchecked) return;
    this.mempool.remove(hash, "quarantined");
    try {
      this.quarantine.add(transaction, cause);
    } catch (error) {
      failures.report("quarantine", error, { hash });
    }
    if (broken === undefined) log.error("transaction quarantined", { hash });
    else log.warn("quarantined a transaction that no block can include", { hash, reason: broken });
  };

  /** Follows the chain. It must be the first subscriber, so that later ones find chain and pool consistent. */
  follow(): void {
    const { chain } = this.#modules.opened;
    chain.subscribe(({ executed, changes }) => {
      const { header, transactions } = executed.block;
      this.#gate?.committed(transactions.length);
      this.#followMinimumTip();
      this.mempool.onHead({
        header,
        state: chain.stateAt(header.number),
        changed: changedAddresses(changes),
        included: transactions.map(({ hash }) => hash),
      });
    });
    // Transactions of removed blocks do not return to the pool: an instant chain would include them at once.
    chain.onRollback(() => {
      const { header } = chain.head().block;
      this.#followMinimumTip();
      this.mempool.onHead({ header, state: chain.stateAt(header.number) });
      this.journaled?.forgetIncluded();
    });
  }

  /** A dev chain's own minimum tip stays in force until the nodes agree on a new one. */
  #followMinimumTip(): void {
    const { chain } = this.#modules.opened;
    if (chain.config.minimumTip === this.#agreedTip) return;
    this.#agreedTip = chain.config.minimumTip;
    this.mempool.setMinimumTip(minimumTipOf(this.#config, chain));
  }

  start(): void {
    const { timers, metrics, opened } = this.#modules;
    this.#isRunning = true;
    if (opened.store.isUnchecked) {
      void opened.store.untilChecked().then(() => this.#isRunning && this.journaled?.forgetRejected());
    }
    this.#sweep = timers.every(STALE_SWEEP_MS, "pool sweep", () => this.mempool.removeStale());
    metrics.gaugeOf({ name: "quarantined_transactions", help: "Transactions that crashed the executor." }, () =>
      this.quarantine.size(),
    );
  }

  stop(): void {
    this.#isRunning = false;
    this.#sweep?.cancel();
    this.blobWorkers.close();
    this.authorityRecovery.close();
    this.journaled?.close();
  }

  #add(submission: Submission): void {
    this.quarantine.assertAllowed(submission.tx.hash);
    this.mempool.add(this.#modules.admit(submission));
  }
}

/** The minimum tip of this node's pool, in wei: the greater of its own and the chain's. */
function minimumTipOf({ mempool }: Config, { config }: Chain): bigint {
  const { minimumGasPriceWei: own } = mempool;
  const { minimumTip: agreed = config.devRules ? 0n : MEMPOOL_DEFAULTS.minimumTip } = config;
  return own > agreed ? own : agreed;
}

/** The solo engine's blocks depend on this process only, so none is late because of others. */
function createBacklogGate(
  { consensus }: Config,
  chain: Chain,
  mempool: Mempool,
  { metrics, timers }: Pick<PoolRoleModules, "metrics" | "timers">,
): BacklogGate | undefined {
  const { engine, blockTime } = consensus;
  if (engine !== "cometbft" || typeof blockTime !== "object") return undefined;
  const modules = { waiting: () => mempool.counts().pending, timers, metrics };
  return new BacklogGate(new Pace(blockTime.intervalMs, chain.config), modules);
}

function createMempool(
  config: Config,
  { chain }: OpenChain,
  { log, timers }: Pick<PoolRoleModules, "log" | "timers">,
): Mempool {
  const { mempool, home } = config;
  const { allowedAccounts } = mempool;
  const { header } = chain.head().block;
  const pool = new Mempool(
    {
      minimumTip: minimumTipOf(config, chain),
      accountSlots: mempool.accountSlots,
      accountQueue: mempool.accountSlots,
      bytesMax: mempool.bytesMax,
      queuedBytesMax: (mempool.bytesMax * QUEUE_LIMITS.sharePercent) / 100,
    },
    {
      config: chain.config,
      ...(config.dev && { order: config.devChain.order }),
      head: { header, state: chain.stateAt(header.number) },
      // A monotonic clock: setting the system's must not end intervals early.
      now: () => timers.now(),
      permissions:
        allowedAccounts === "" ? undefined : new AccountPermissions(resolve(home, allowedAccounts), { log, timers }),
    },
  );
  pool.onRemoved(({ tx: { hash } }, reason) => {
    if (log.enabled("debug")) log.debug("transaction removed", { hash, reason });
  });
  return pool;
}
