import { setImmediate } from "node:timers/promises";
import { BadBlocks } from "../../chain/inspect/bad-blocks.ts";
import type { ChainReader } from "../../chain/reader.ts";
import { nextRollback } from "../../chain/rollback-part.ts";
import { DiskFullError } from "../../chain/store/store-errors.ts";
import type { Config } from "../../config/config.ts";
import {
  cliqueProposalsPath,
  clockStopPath,
  devJournalPath,
  isInMemory,
  poolPath,
  quarantinePath,
  snapshotsPath,
} from "../../config/home.ts";
import type { Application, Time } from "../../consensus/application.ts";
import { type BlockTester, createBlockTester } from "../../consensus/block-tester.ts";
import {
  ClockJumpError,
  type ClockWatch,
  createClockWatch,
  openClockStopFile,
} from "../../consensus/clock-watch.ts";
import type { SyncedEngine } from "../../consensus/cometbft/state-sync.ts";
import { type Engine, NetworkDecidesBlocksError } from "../../consensus/engine.ts";
import { EvmApplication } from "../../consensus/evm-application.ts";
import {
  type BeginBlock,
  createBlockFactory,
  createPendingBlocks,
} from "../../consensus/pending-block.ts";
import type { SetAside } from "../../consensus/quarantine.ts";
import { openQuarantine, type Quarantine } from "../../consensus/quarantine.ts";
import {
  nextBlockTime,
  OwnProposalRejectedError,
  SoloEngine,
  timestampStepOf,
} from "../../consensus/solo/solo-engine.ts";
import { SnapshotFiles } from "../../consensus/state-sync/snapshot-files.ts";
import { createSnapshots } from "../../consensus/state-sync/snapshots.ts";
import { openProposals } from "../../consensus/voting/proposals.ts";
import { soloStartingSet } from "../../consensus/voting/starting-set.ts";
import { createVoting, type Voting } from "../../consensus/voting/voting.ts";
import { DevChain } from "../../dev/dev-chain.ts";
import { NO_DEV_JOURNAL, openDevJournal } from "../../dev/dev-journal.ts";
import type { ExecutionModules } from "../../execution/block/block-execution.ts";
import { type JournaledPool, journalPool } from "../../mempool/journaled-pool.ts";
import { Mempool } from "../../mempool/mempool.ts";
import { PeerSubmissions } from "../../mempool/peer-submissions.ts";
import type { Submission } from "../../mempool/pool.ts";
import { createSubmit, type Submit } from "../../mempool/submission.ts";
import type { Address } from "../../primitives/address.ts";
import { LogWriteError } from "../../storage/block-log.ts";
import { openLogDirectory } from "../../storage/log-file.ts";
import type { Failures } from "../../telemetry/failures.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Transaction } from "../../types/transaction/transaction.ts";
import { type BlobWorkers, createBlobWorkers } from "../adapters/blob-workers.ts";
import { createContractCompiler } from "../adapters/compiled/contract-compiler.ts";
import type { ThreadedCompiler } from "../adapters/compiled/threaded-compiler.ts";
import { ChainChanges } from "../chain-changes.ts";
import type * as NetworkEngine from "./compose-engine.ts";
import { executionModules } from "./execution-modules.ts";
import { type OpenChain, type OpenChainOptions, openChain } from "./open-chain.ts";
import { submissionRulesOf } from "./submission-rules.ts";

/** How often the pool looks for transactions that waited too long. */
const STALE_SWEEP_MS = 60_000;
/** How often the clocks are compared while no block is made. */
const CLOCK_CHECK_MS = 10_000;
/** The EVM of the newest rules is compiled this long after the start: after the first answer, before the first call. */
const WARM_UP_AFTER_MS = 200;

/** The chain role: everything that owns or changes the chain, without listeners. */
export type ChainCore = OpenChain & {
  readonly reader: ChainReader;
  readonly mempool: Mempool;
  readonly execution: ExecutionModules;
  /** Compiles hot contracts; undefined where they are only interpreted. */
  readonly compiler: ThreadedCompiler | undefined;
  readonly beginBlock: BeginBlock;
  readonly application: Application;
  readonly engine: Engine;
  readonly voting: Voting;
  /** Why no blocks are made at present; undefined while they are. */
  readonly stalled: () => unknown;
  /** The journal of the pool; undefined where it is switched off. */
  readonly journaled: JournaledPool | undefined;
  readonly blobWorkers: BlobWorkers;
  readonly quarantine: Quarantine;
  /** Receives the tips of the next block; may be set while the node runs. */
  readonly feeRecipient: { value: Address };
  /** Submits a transaction to the pool. */
  readonly submit: Submit;
  readonly blockTester: BlockTester;
  readonly badBlocks: BadBlocks;
  /** Undefined where nobody may bend the chain. */
  readonly devChain: DevChain | undefined;
  /**
   * Makes block `number` the head again and forgets what came after it; the engine goes on from there.
   * @param number at most the head's
   * @throws NetworkDecidesBlocksError under an engine with a network, ChainBusyError while the chain is changed otherwise
   */
  readonly rewind: (number: number) => Promise<void>;
  /**
   * Runs `change`, which appends or removes blocks itself, while the engine is stopped.
   * @param name of what changes the chain, for the errors of others
   * @throws as `rewind`
   */
  readonly withoutEngine: <T>(name: string, change: () => Promise<T>) => Promise<T>;
  start(): Promise<void>;
  stop(): Promise<void>;
};

export type ChainCoreModules = {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly failures: Failures;
  /** Loaded for `consensus.engine = cometbft` alone. */
  readonly networkEngine: typeof NetworkEngine | undefined;
  /** CometBFT as state sync left it, if there was one. */
  readonly synced: SyncedEngine | undefined;
};

export type ChainCoreHooks = OpenChainOptions & {
  /** Called once when a block could not be made durable. */
  readonly onFatal: (error: unknown) => void;
  /** In place of the system's clocks, for tests that set them. Milliseconds. */
  readonly wallClock?: () => number;
  readonly monotonicClock?: () => number;
  /** Called inside the executor with each transaction of a block, for tests that make it fail. */
  readonly beforeTransaction?: (tx: Transaction) => void;
};

/** Builds the chain role of a node from the bottom up; nothing runs before `start`. */
export function composeChain(
  config: Config,
  modules: ChainCoreModules,
  hooks: ChainCoreHooks,
): ChainCore {
  const { log, metrics, failures, networkEngine } = modules;
  const opened = openChain(config, log, hooks);
  const { chain } = opened;
  const compiler = createContractCompiler(config, log.child("evm"), metrics);
  const execution = executionModules(chain, compiler);
  let devChain: DevChain | undefined;
  const beginBlock = createBlockFactory(chain, execution, {
    beforeTransaction: hooks.beforeTransaction,
    override: opened.patches && ((attributes) => devChain?.override(attributes) ?? attributes),
  });
  const clock = watchClock(config, opened, modules, hooks);
  const poolLog = log.child("mempool");
  const mempool = createMempool(config, opened, poolLog);
  const journaled =
    config.mempool.journal && !isInMemory(config)
      ? journalPool(mempool, openLogDirectory(poolPath(config.home)), poolLog)
      : undefined;
  const blobWorkers = createBlobWorkers(config.mempool, poolLog);
  const quarantine = openQuarantine(
    {
      directory: quarantinePath(config.home),
      bytesMax: config.consensus.quarantineBytesMax,
    },
    { now: Date.now },
  );
  // The journal has them where the process ended before their removal was written.
  for (const hash of quarantine.hashes()) mempool.remove(hash, "quarantined");
  const setAside = createSetAside(quarantine, mempool, modules);

  const pool = {
    add(submission: Submission): void {
      quarantine.assertAllowed(submission.tx.hash);
      mempool.add(devChain?.withSender(submission) ?? submission);
    },
    checkBlob: mempool.checkBlob.bind(mempool),
  };
  const submissionRules = submissionRulesOf(config.jsonRpc);
  const submit = createSubmit(submissionRules, { pool, blobs: blobWorkers });

  const feeRecipient = {
    value: networkEngine?.defaultFeeRecipient(config) ?? config.consensus.feeRecipient,
  };
  const { blockTime, extraData, gasLimit: gasLimitTarget } = config.consensus;
  const building = { gasLimitTarget, minimumTip: () => config.mempool.minimumGasPriceWei };
  const consensusLog = log.child("consensus");
  const shared = { chain, mempool, beginBlock, setAside, log: consensusLog };
  const headTimestamp = () => chain.head().block.header.timestamp;
  const pending = createPendingBlocks(building, {
    ...shared,
    nextTimestamp() {
      const now = timeOf((hooks.wallClock?.() ?? Date.now()) + (devChain?.clockOffsetMs ?? 0));
      return nextBlockTime(now, headTimestamp(), timestampStepOf(blockTime)).seconds;
    },
  });
  const snapshotFiles = new SnapshotFiles(snapshotsPath(config.home));
  const soloSet = soloStartingSet(config.consensus.feeRecipient);
  const voting = createVoting({
    chain,
    proposals: openProposals(cliqueProposalsPath(config.home)),
    startingSet: () => networkEngine?.startingSet(config) ?? soloSet,
  });
  const application = new EvmApplication(
    { ...building, feeRecipient: () => feeRecipient.value, extraData },
    {
      ...shared,
      proposals: voting.proposals,
      startingSet: voting.startingSet,
      snapshots: snapshotFiles,
      submissions: new PeerSubmissions({ pool, blobs: blobWorkers, log: poolLog }),
      onFailure: failures.report,
      now: () => performance.now(),
    },
  );
  let stalled: unknown;
  const createSolo = () =>
    new SoloEngine(
      {
        blockTime,
        proposer: config.consensus.feeRecipient,
        onFatal: hooks.onFatal,
        isTemporary: isTemporaryFailure,
        onStalled(cause) {
          stalled = cause;
          const { number } = chain.head().block.header;
          if (cause === undefined) log.info("block production resumed", { head: number });
          else failures.report("block production", cause, { head: number });
        },
      },
      {
        application,
        onExecutable: (listener) => mempool.onPending(listener),
        hasExecutable: () => mempool.counts().pending > 0,
        now: () => timeOf(clock.now() + (devChain?.clockOffsetMs ?? 0)),
        headTimestamp,
        packsAhead: opened.patches === undefined,
      },
    );
  const network = networkEngine?.createNetworkEngine(config, {
    ...{ application, chain, failures, metrics, log, synced: modules.synced },
    onFatal: hooks.onFatal,
  });
  const solo = network === undefined ? createSolo() : undefined;
  const engine = network ?? solo!;
  // The pool is the first subscriber, so that every later one finds chain and pool in agreement.
  chain.subscribe(({ executed, changes }) => {
    const { header } = executed.block;
    mempool.onHead({
      header,
      state: chain.stateAt(header.number),
      changed: changes.accounts.map(({ address }) => address),
      included: executed.block.transactions.map(({ hash }) => hash),
    });
  });
  // Likewise after a rollback. Its transactions are not pooled again: an instant chain would include them at once.
  chain.onRollback(() => {
    const { header } = chain.head().block;
    mempool.onHead({ header, state: chain.stateAt(header.number) });
    journaled?.forgetIncluded();
  });
  let isRunning = false;
  const changes = new ChainChanges();
  async function withoutEngine<T>(name: string, change: () => Promise<T>): Promise<T> {
    if (engine.network !== undefined) throw new NetworkDecidesBlocksError();
    return changes.run(name, async () => {
      // Blocks that the engine builds meanwhile would have another parent.
      await engine.stop();
      application.engineLost();
      try {
        return await change();
      } finally {
        if (isRunning) await engine.start();
      }
    });
  }
  function rewind(number: number): Promise<void> {
    return withoutEngine("a rewind", async () => {
      for (;;) {
        const head = chain.head().block.header.number;
        if (head <= number) return;
        chain.rollbackTo(nextRollback(opened.store, head, number));
        // Other calls have their turn between two parts.
        await setImmediate();
      }
    });
  }
  if (opened.patches !== undefined && solo !== undefined) {
    devChain = new DevChain({
      ...{ chain, patches: opened.patches, mempool, rewind, blobs: blobWorkers },
      base: opened.store.base() ?? 0,
      engine: {
        configuredMode: solo.configuredMode,
        setMode: (mode) => solo.setMode(mode),
        produceBlock() {
          changes.assertNone();
          return solo.produceBlock();
        },
      },
      journal: isInMemory(config)
        ? NO_DEV_JOURNAL
        : openDevJournal(openLogDirectory(devJournalPath(config.home))),
      now: hooks.wallClock ?? Date.now,
    });
  }
  const snapshots = createSnapshots(config.snapshot, {
    ...{ chain, failures, metrics },
    addresses: () => opened.store.addresses(),
    pinState: (number) => opened.store.pinState(number),
    files: snapshotFiles,
    log: log.child("snapshots"),
  });
  let timers: readonly NodeJS.Timeout[] = [];
  return {
    ...opened,
    blockTester: createBlockTester(
      {
        ...building,
        assertCanCommit() {
          if (engine.network !== undefined) throw new NetworkDecidesBlocksError();
          changes.assertNone();
        },
      },
      shared,
    ),
    badBlocks: new BadBlocks({
      countMax: config.jsonRpc.badBlocksMax,
      bytesMax: config.jsonRpc.badBlocksBytesMax,
    }),
    devChain,
    rewind,
    withoutEngine,
    feeRecipient,
    reader: { ...chain, pending },
    mempool,
    execution,
    compiler,
    beginBlock,
    application,
    engine,
    voting,
    stalled: () => stalled ?? clock.problem() ?? engine.network?.status().problem,
    journaled,
    blobWorkers,
    quarantine,
    submit,
    async start() {
      isRunning = true;
      await engine.start();
      timers = [
        setInterval(
          failures.guard("pool sweep", () => mempool.removeStale()),
          STALE_SWEEP_MS,
        ),
        setInterval(failures.guard("clock check", clock.check), CLOCK_CHECK_MS),
        setTimeout(failures.guard("warm-up", pending), WARM_UP_AFTER_MS).unref(),
      ];
      metrics.gaugeOf(
        { name: "quarantined_transactions", help: "Transactions that crashed the executor." },
        () => quarantine.size(),
      );
    },
    async stop() {
      isRunning = false;
      snapshots.close();
      await engine.stop();
      for (const timer of timers) clearTimeout(timer);
      blobWorkers.close();
      compiler?.close();
      journaled?.close();
      devChain?.close();
    },
  };
}

/** A damaged store is not the transaction's fault: that one only misses this block. */
function createSetAside(
  quarantine: Quarantine,
  mempool: Mempool,
  { log, failures }: ChainCoreModules,
): SetAside {
  return ({ transaction, cause }) => {
    const { hash } = transaction;
    if (failures.report("executor", cause, { hash }) === "operator") return;
    mempool.remove(hash, "quarantined");
    try {
      quarantine.add(transaction, cause);
    } catch (error) {
      failures.report("quarantine", error, { hash });
    }
    log.error("transaction quarantined", { hash });
  };
}

function watchClock(
  { consensus, home }: Config,
  { chain }: OpenChain,
  { log, metrics }: ChainCoreModules,
  { wallClock = Date.now, monotonicClock = () => performance.now() }: ChainCoreHooks,
): ClockWatch {
  const { number, timestamp } = chain.head().block.header;
  return createClockWatch(
    { forwardJumpMsMax: consensus.clockJumpMsMax, isAccepted: consensus.acceptClock },
    number === 0 ? undefined : timestamp,
    {
      ...{ wallClock, monotonicClock, metrics },
      log: log.child("clock"),
      clockStop: openClockStopFile(clockStopPath(home)),
    },
  );
}

/** Nothing was stored, and the cause can end by itself: a full disk, a clock, a system contract that is missing. */
function isTemporaryFailure(error: unknown): boolean {
  return (
    error instanceof DiskFullError ||
    error instanceof LogWriteError ||
    error instanceof ClockJumpError ||
    error instanceof OwnProposalRejectedError
  );
}

function createMempool({ mempool }: Config, { chain }: OpenChain, log: Logger): Mempool {
  const { priceLimitWei, minimumGasPriceWei } = mempool;
  const { header } = chain.head().block;
  const pool = new Mempool(
    {
      minimumTip: minimumGasPriceWei > priceLimitWei ? minimumGasPriceWei : priceLimitWei,
      priceBump: mempool.priceBumpPercent,
      accountSlots: mempool.accountSlots,
      accountQueue: mempool.accountQueue,
      bytesMax: mempool.bytesMax,
      queuedBytesMax: mempool.queuedBytesMax,
      blobBytesMax: mempool.blobBytesMax,
      lifetimeMs: mempool.lifetimeMs,
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

function timeOf(milliseconds: number): Time {
  return {
    seconds: Math.floor(milliseconds / 1000),
    nanos: Math.floor(milliseconds % 1000) * 1_000_000,
  };
}
