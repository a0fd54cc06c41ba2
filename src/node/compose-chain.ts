import type { ChainReader } from "../chain/reader.ts";
import { DiskFullError } from "../chain/store/store-errors.ts";
import type { Config } from "../config/config.ts";
import { poolPath } from "../config/home.ts";
import type { Application, Time } from "../consensus/application.ts";
import { type BeginBlock, createBlockFactory } from "../consensus/block-factory.ts";
import { type BlockTester, createBlockTester } from "../consensus/built-block.ts";
import { createEvmApplication } from "../consensus/evm-application.ts";
import { createPendingBlocks } from "../consensus/pending-block.ts";
import { createSoloEngine, type SoloEngine } from "../consensus/solo/solo-engine.ts";
import { sidecarFaultText } from "../crypto/kzg/sidecar.ts";
import type { ExecutionModules } from "../execution/block/block-execution.ts";
import { type JournaledPool, journalPool } from "../mempool/journaled-pool.ts";
import { Mempool } from "../mempool/mempool.ts";
import { createSubmit, type SubmissionRules } from "../mempool/submission.ts";
import type { Address } from "../primitives/address.ts";
import type { Submit } from "../rpc/ports/execution.ts";
import { LogWriteError } from "../storage/block-log.ts";
import { openLogDirectory } from "../storage/log-file.ts";
import type { Logger } from "../telemetry/logger.ts";
import { type BlobWorkers, createBlobWorkers } from "./adapters/blob-workers.ts";
import { executionModules } from "./execution-modules.ts";
import { type OpenChain, type OpenChainOptions, openChain } from "./open-chain.ts";

/** How often the pool looks for transactions that waited too long. */
const STALE_SWEEP_MS = 60_000;
/** The EVM of the newest rules is emitted and compiled this long after the start: behind the first answer, before the first call. */
const WARM_UP_AFTER_MS = 200;

/** The chain role: everything that owns or changes the chain, without a way in from outside. */
export type ChainCore = OpenChain & {
  readonly reader: ChainReader;
  readonly mempool: Mempool;
  readonly execution: ExecutionModules;
  readonly beginBlock: BeginBlock;
  readonly application: Application;
  readonly engine: SoloEngine;
  /** Why no blocks are made for the time being; undefined while they are. */
  readonly stalled: () => unknown;
  /** The journal of the pool; undefined where it is switched off. */
  readonly journaled: JournaledPool | undefined;
  readonly blobWorkers: BlobWorkers;
  /** Who receives the tips of the next block; may be set while the node runs. */
  readonly feeRecipient: { value: Address };
  readonly submissionRules: SubmissionRules;
  /** Submits a transaction in network form to the pool. */
  readonly submit: Submit;
  readonly blockTester: BlockTester;
  start(): void;
  stop(): void;
};

/**
 * Builds the chain role of a node from the bottom up; nothing runs before `start`.
 * @param hooks.onFatal called once when a block could not be made durable
 */
export function composeChain(
  config: Config,
  log: Logger,
  hooks: OpenChainOptions & { readonly onFatal: (error: unknown) => void },
): ChainCore {
  const opened = openChain(config, log, hooks);
  const { chain } = opened;
  const execution = executionModules(chain);
  const beginBlock = createBlockFactory(chain, execution);
  const { header } = chain.head().block;
  const poolLog = log.child("mempool");
  const mempool = new Mempool(poolOptions(config), {
    config: chain.config,
    head: { header, state: chain.stateAt(header.number) },
    // Of spans of time only; a clock that is set must not end them early.
    now: () => performance.now(),
    verifySidecar: sidecarFaultText,
  });
  const journaled = config.mempool.journal
    ? journalPool(mempool, openLogDirectory(poolPath(config.home)), poolLog)
    : undefined;
  mempool.onRemoved(({ tx: { hash } }, reason) => {
    if (poolLog.enabled("debug")) poolLog.debug("transaction removed", { hash, reason });
  });
  const blobWorkers = createBlobWorkers(config.mempool, poolLog);
  const submissionRules: SubmissionRules = {
    txFeeWeiMax: config.jsonRpc.txFeeWeiMax,
    allowUnprotected: config.jsonRpc.allowUnprotected,
  };
  const submit = createSubmit(submissionRules, { pool: mempool, blobs: blobWorkers });
  const feeRecipient = { value: config.consensus.feeRecipient };
  const minimumTip = () => config.mempool.minimumGasPriceWei;
  const gasLimitTarget = config.consensus.gasLimit;
  const pending = createPendingBlocks(
    { gasLimitTarget, minimumTip },
    {
      ...{ chain, mempool, beginBlock },
      nowSeconds: () => now().seconds,
      log: log.child("consensus"),
    },
  );
  const application = createEvmApplication(
    {
      feeRecipient: () => feeRecipient.value,
      extraData: config.consensus.extraData,
      minimumTip,
      gasLimitTarget,
    },
    { chain, mempool, beginBlock, log: log.child("consensus") },
  );
  let stalled: unknown;
  const engine = createSoloEngine(
    {
      blockTime: config.consensus.blockTime,
      proposer: config.consensus.feeRecipient,
      onFatal: hooks.onFatal,
      isTemporary: isTemporaryStoreFailure,
      onStalled(cause) {
        stalled = cause;
        const { number } = chain.head().block.header;
        if (cause === undefined) log.info("blocks go on", { head: number });
        else log.error("no blocks for the time being", { head: number, error: cause });
      },
    },
    {
      application,
      onExecutable: (listener) => mempool.onPending(listener),
      hasExecutable: () => mempool.counts().pending > 0,
      now,
      headTime: () => ({ seconds: chain.head().block.header.timestamp, nanos: 0 }),
    },
  );
  // The pool moves to a new head before anyone else hears of it, so that whoever does sees both agree.
  chain.subscribe(({ executed, changes }) => {
    const { header: head } = executed.block;
    mempool.onHead({
      header: head,
      state: chain.stateAt(head.number),
      changed: changes.accounts.map(({ address }) => address),
      included: executed.block.transactions.map(({ hash }) => hash),
    });
  });
  let sweep: NodeJS.Timeout | undefined;
  let warmUp: NodeJS.Timeout | undefined;
  const blockTester = createBlockTester(
    { gasLimitTarget, minimumTip },
    { chain, mempool, beginBlock },
  );
  return {
    ...opened,
    blockTester,
    feeRecipient,
    reader: { ...chain, pending },
    mempool,
    execution,
    beginBlock,
    application,
    engine,
    stalled: () => stalled,
    journaled,
    blobWorkers,
    submissionRules,
    submit,
    start() {
      engine.start();
      sweep = setInterval(() => mempool.removeStale(), STALE_SWEEP_MS);
      warmUp = setTimeout(pending, WARM_UP_AFTER_MS).unref();
    },
    stop() {
      engine.stop();
      clearInterval(sweep);
      clearTimeout(warmUp);
      blobWorkers.close();
      journaled?.close();
    },
  };
}

/** Nothing of the block was kept, and there is nothing to repair: a full disk, most of the time. */
function isTemporaryStoreFailure(error: unknown): boolean {
  return error instanceof DiskFullError || error instanceof LogWriteError;
}

function poolOptions({ mempool }: Config) {
  const { priceLimitWei, minimumGasPriceWei } = mempool;
  return {
    minimumTip: minimumGasPriceWei > priceLimitWei ? minimumGasPriceWei : priceLimitWei,
    priceBump: mempool.priceBumpPercent,
    accountSlots: mempool.accountSlots,
    accountQueue: mempool.accountQueue,
    bytesMax: mempool.bytesMax,
    queuedBytesMax: mempool.queuedBytesMax,
    blobBytesMax: mempool.blobBytesMax,
    lifetimeMs: mempool.lifetimeMs,
  };
}

function now(): Time {
  const milliseconds = Date.now();
  return { seconds: Math.floor(milliseconds / 1000), nanos: (milliseconds % 1000) * 1_000_000 };
}
