import { setImmediate } from "node:timers/promises";
import { loadSignatures } from "../../../base/crypto/secp256k1.ts";
import { NodeError } from "../../../base/errors.ts";
import { gasLimitBase, nextGasLimit } from "../../../base/params/fees.ts";
import { ForkHashes } from "../../../base/params/fork-id.ts";
import type { RequestContract } from "../../../base/params/gas.ts";
import { hardforkAt, timeFieldOf } from "../../../base/params/hardforks.ts";
import { type Address, checksumAddress } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Timer } from "../../../base/telemetry/timers.ts";
import type { Block } from "../../../base/types/block.ts";
import { maxFeePerGasOf } from "../../../base/types/transaction/fees.ts";
import { BAD_BLOCK_LIMITS, BadBlocks } from "../../../chain/inspect/bad-blocks.ts";
import type { ChainReader } from "../../../chain/reader.ts";
import { DiskFullError, isIndexDamage, StoreUncheckedError } from "../../../chain/store-errors.ts";
import { AgreementReports } from "../../../consensus/agreement-reports.ts";
import type { Application, Time } from "../../../consensus/application.ts";
import { type BlockTester, createBlockTester } from "../../../consensus/block-tester.ts";
import { ChainChanges } from "../../../consensus/chain-changes.ts";
import { genesisRules } from "../../../consensus/chain-start.ts";
import {
  CLOCK_JUMP_LIMITS,
  ClockJumpError,
  type ClockWatch,
  createClockWatch,
  openClockStopFile,
} from "../../../consensus/clock-watch.ts";
import type { SyncedEngine } from "../../../consensus/cometbft/state-sync.ts";
import { type Engine, NetworkDecidesBlocksError } from "../../../consensus/engine.ts";
import { EvmApplication, prevRandaoOf } from "../../../consensus/evm-application.ts";
import { createVoting, type Voting } from "../../../consensus/governance.ts";
import { type BeginBlock, PendingBlocks } from "../../../consensus/pending-block.ts";
import {
  nextBlockTime,
  OwnProposalRejectedError,
  SoloEngine,
  timestampStepOf,
} from "../../../consensus/solo/solo-engine.ts";
import { SnapshotFiles } from "../../../consensus/state-sync/snapshot-files.ts";
import { createSnapshots, SNAPSHOT_REST_MS, type Snapshots } from "../../../consensus/state-sync/snapshots.ts";
import { traceBlocks } from "../../../consensus/traced-application.ts";
import { ParameterProposals } from "../../../consensus/voting/parameter-proposals.ts";
import { openProposals } from "../../../consensus/voting/proposals.ts";
import { soloStartingSet } from "../../../consensus/voting/starting-set.ts";
import { openHeader, type PayloadAttributes } from "../../../evm/execution/block/build-block.ts";
import { missingRequestContracts } from "../../../evm/execution/block/system-calls.ts";
import type { OpenHeader } from "../../../evm/execution/block-context.ts";
import type { CallModules } from "../../../evm/execution/call/call.ts";
import type { Speculation } from "../../../evm/execution/parallel/speculation.ts";
import type { NextBlock } from "../../../rpc/ports/chain-view.ts";
import { LogPoisonedError, LogWriteError } from "../../../store/storage/log/block-log.ts";
import type { ProductionParts } from "../../adapters/parts.ts";
import type { Config } from "../../config/config.ts";
import { cliqueProposalsPath, clockStopPath, parameterProposalsPath, snapshotsPath } from "../../config/home.ts";
import type { NodeTools } from "../node-tools.ts";
import type * as NetworkEngine from "./network-engine.ts";
import type { OpenChain } from "./open-chain.ts";
import type { PoolRole } from "./pool-role.ts";

/** Interval of clock comparisons while no block is made. */
const CLOCK_CHECK_MS = 10_000;
/** Delay after the start before the newest rules' EVM is compiled and the signature addon loaded: after the first answer, before the first call. */
const WARM_UP_AFTER_MS = 200;

export type ChainRoleModules = NodeTools & {
  /** Loaded only for `consensus.engine = cometbft`. */
  readonly networkEngine: typeof NetworkEngine | undefined;
  /** CometBFT as state sync left it, if it ran. */
  readonly synced: SyncedEngine | undefined;
};

export type ProductionModules = ChainRoleModules & {
  readonly opened: OpenChain;
  readonly pool: PoolRole;
  readonly beginBlock: BeginBlock;
  /** Executes transactions of the next block ahead of time in other threads. */
  readonly speculation?: Speculation | undefined;
  readonly execution: CallModules;
  /** Adds a dev chain's manual settings for the next block to the attributes. */
  readonly override: (attributes: PayloadAttributes) => PayloadAttributes;
  /** Milliseconds by which a dev chain's clock is ahead of the system's. */
  readonly clockOffsetMs: () => number;
};

export type ProductionHooks = {
  /** Called once if a block could not be made durable. */
  readonly onFatal: (error: unknown) => void;
  /** Replaces the system's clocks in tests. Milliseconds. */
  readonly wallClock?: () => number;
  readonly monotonicClock?: () => number;
};

/** The head of this chain cannot have a successor. */
class MissingRequestContractsError extends NodeError {
  readonly code = "GENESIS_REQUEST_CONTRACTS";
  constructor({ eip, address, since }: RequestContract) {
    super(
      `the chain has no code at ${checksumAddress(address)} (${eip}), which every block needs from this fork on: set config.${timeFieldOf(since)} in the genesis to a later time, and deploy the contract before then`,
      { address },
    );
  }
}

/** Decides which blocks come next: the application, its engine, votes about validators, snapshots for new nodes. */
export class ProductionRole implements ProductionParts {
  readonly application: Application;
  readonly engine: Engine;
  /** The engine, if it is the solo engine. */
  readonly solo: SoloEngine | undefined;
  readonly voting: Voting;
  readonly blockTester: BlockTester;
  readonly badBlocks: BadBlocks;
  readonly feeRecipient: { value: Address };
  readonly pending: ChainReader["pending"];
  readonly #config: Config;
  readonly #modules: ProductionModules;
  readonly #hooks: ProductionHooks;
  readonly #clock: ClockWatch;
  readonly #changes = new ChainChanges();
  readonly #reports: AgreementReports;
  #namesForks: boolean | undefined;
  readonly #snapshots: Snapshots;
  #stalled: unknown;
  #lastOpened: { readonly attributes: PayloadAttributes; readonly header: OpenHeader } | undefined;
  #isRunning = false;
  /** Resolves once the engine runs; undefined while it waits for the index check. */
  #engineStart: Promise<void> | undefined;
  #timers: readonly Timer[] = [];

  constructor(config: Config, modules: ProductionModules, hooks: ProductionHooks) {
    this.#config = config;
    this.#modules = modules;
    this.#hooks = hooks;
    const { opened, pool, beginBlock, networkEngine, failures, log } = modules;
    const { chain } = opened;
    const { extraData, gasLimit } = config.consensus;
    this.#clock = this.#watchClock();
    this.feeRecipient = {
      value: networkEngine?.defaultFeeRecipient(config) ?? config.consensus.feeRecipient,
    };
    this.badBlocks = new BadBlocks(BAD_BLOCK_LIMITS);
    const building = {
      gasLimitTarget: () => chain.config.gasLimitTarget ?? gasLimit,
      minimumTip: () => this.#minimumTip(),
    };
    const { mempool, setAside } = pool;
    const shared = { chain, mempool, beginBlock, setAside, log: log.child("consensus") };
    const pending = new PendingBlocks(
      { ...building, alwaysCurrent: opened.patches !== undefined },
      { ...shared, nextTimestamp: () => this.#nextTimestamp(), now: () => performance.now() },
    );
    this.pending = () => pending.current();
    const soloSet = soloStartingSet(config.consensus.feeRecipient);
    this.voting = createVoting({
      chain,
      proposals: openProposals(cliqueProposalsPath(config.home)),
      parameterProposals: new ParameterProposals(parameterProposalsPath(config.home)),
      startingSet: () => networkEngine?.startingSet(config) ?? soloSet,
    });
    this.#reports = new AgreementReports({
      chain,
      voting: this.voting,
      metrics: modules.metrics,
      log: log.child("consensus"),
    });
    const snapshotFiles = new SnapshotFiles(snapshotsPath(config.home));
    const { config: chainConfig, genesisHash } = chain;
    const forks = new ForkHashes({ config: chainConfig, genesisHash, genesisTime: opened.genesis.timestamp });
    const application = new EvmApplication(
      {
        ...building,
        feeRecipient: () => this.feeRecipient.value,
        extraData,
        forks,
        // The first start of a network creates the file, which never changes afterwards.
        namesForks: () => (this.#namesForks ??= networkEngine?.blocksNameForks(config) ?? false),
        rules: genesisRules(opened.genesis.config),
      },
      {
        ...shared,
        speculation: modules.speculation,
        proposals: this.voting.proposals,
        parameterProposals: this.voting.parameterProposals,
        startingSet: this.voting.startingSet,
        validatorPower: () => networkEngine?.validatorPower(config) ?? 1,
        snapshots: snapshotFiles,
        submissions: pool.fromPeers,
        onFailure: (where, error) => this.#onFailure(where, error),
        now: () => performance.now(),
      },
    );
    this.application = modules.tracer === undefined ? application : traceBlocks(application, modules.tracer);
    const network = this.#createNetworkEngine();
    this.solo = network === undefined ? this.#createSoloEngine() : undefined;
    this.engine = network ?? this.solo!;
    this.blockTester = createBlockTester({ ...building, assertCanCommit: () => this.#assertCanCommit() }, shared);
    this.#snapshots = createSnapshots(config.snapshot, {
      chain,
      failures,
      metrics: modules.metrics,
      store: opened.store,
      files: snapshotFiles,
      pause: () => modules.machineTimers.sleep(SNAPSHOT_REST_MS, { keepsAlive: false }),
      log: log.child("snapshots"),
    });
  }

  nextBlock(): NextBlock {
    const { opened, pool, override } = this.#modules;
    const { chain, patches } = opened;
    const { block } = chain.head();
    const attributes = override({
      timestamp: this.#nextTimestamp(),
      feeRecipient: this.feeRecipient.value,
      gasLimit: nextGasLimit(
        gasLimitBase(block.header, chain.config),
        chain.config.gasLimitTarget ?? this.#config.consensus.gasLimit,
      ),
    });
    const inBlock = this.#openAfter(block, attributes);
    const { baseFeePerGas } = inBlock;
    // On a dev chain, only the user's own pending transactions come before a new one.
    const isAfterPending = patches !== undefined && pool.mempool.counts().pending > 0;
    const on = isAfterPending ? ({ at: "pending" } as const) : ({ at: "latest", inBlock } as const);
    return { target: { ...on, keepsFees: true }, baseFeePerGas };
  }

  /** The open header with these attributes on `parent`; clients that prepare transactions request it several times per block. */
  #openAfter({ hash, header }: Block, attributes: PayloadAttributes): OpenHeader {
    const last = this.#lastOpened;
    if (last?.header.parentHash === hash && isSameBlock(last.attributes, attributes)) return last.header;
    // A plausible value: the real one depends on the nanosecond.
    const likely = prevRandaoOf(header.mixHash, {
      height: header.number + 1,
      time: { seconds: attributes.timestamp, nanos: 0 },
      proposer: this.feeRecipient.value,
    });
    const opened = openHeader(header, hash, { prevRandao: likely, ...attributes }, this.#modules.opened.chain.config);
    this.#lastOpened = { attributes, header: opened };
    return opened;
  }

  /** Why block production is stopped; undefined if it is not. */
  stalled(): unknown {
    if (this.#modules.opened.store.isUnchecked) return new StoreUncheckedError();
    return this.#stalled ?? this.#clock.problem() ?? this.engine.network?.status().problem;
  }

  /** Makes a block of the solo engine now. @throws ChainBusyError while another operation changes the chain */
  produceBlock(): Hash {
    this.#assertChangeable();
    return this.solo!.produceBlock();
  }

  /** See `Chain`. The node stops if the blocks cannot be synced: it has them in memory, where no client may see them. */
  commitTogether(work: () => void): void {
    try {
      this.#modules.opened.chain.commitTogether(work);
    } catch (error) {
      if (error instanceof LogPoisonedError) this.#hooks.onFatal(error);
      throw error;
    }
  }

  async withoutEngine<T>(name: string, change: () => Promise<T>): Promise<T> {
    if (this.engine.network !== undefined) throw new NetworkDecidesBlocksError();
    this.#assertChangeable();
    return this.#changes.run(name, async () => {
      // Blocks that the engine builds meanwhile would have another parent.
      await this.engine.stop();
      this.application.engineLost();
      try {
        return await change();
      } finally {
        if (this.#isRunning) await this.engine.start();
      }
    });
  }

  rewind(number: number): Promise<void> {
    const { chain } = this.#modules.opened;
    return this.withoutEngine("a rewind", async () => {
      // Other calls run between two parts.
      while (chain.head().block.header.number > number && !chain.rollbackPart(number)) await setImmediate();
    });
  }

  /** @throws MissingRequestContractsError */
  async start(): Promise<void> {
    const { timers } = this.#modules;
    if (this.solo !== undefined) this.#assertRequestContracts();
    this.#isRunning = true;
    this.#reports.report();
    const { store } = this.#modules.opened;
    if (store.isUnchecked) void this.#startEngineOnceChecked();
    else await this.#startEngine();
    this.#timers = [
      timers.every(CLOCK_CHECK_MS, "clock check", this.#clock.check),
      timers.after(WARM_UP_AFTER_MS, "warm-up", () => {
        this.pending();
        loadSignatures();
      }),
    ];
  }

  async stop(): Promise<void> {
    const hasStarted = this.#isRunning;
    this.#isRunning = false;
    this.#snapshots.close();
    if (hasStarted && this.#engineStart !== undefined) {
      await this.#engineStart.catch(() => {});
      await this.engine.stop();
    }
    for (const timer of this.#timers) timer.cancel();
  }

  async #startEngine(): Promise<void> {
    this.#engineStart = Promise.resolve(this.engine.start());
    await this.#engineStart;
  }

  /**
   * Waits for the index check before it proposes, votes on or executes a block: with a row that damage hides, this node would make a block that
   * other nodes reject.
   */
  async #startEngineOnceChecked(): Promise<void> {
    await this.#modules.opened.store.untilChecked();
    if (!this.#isRunning) return;
    try {
      await this.#startEngine();
    } catch (error) {
      this.#hooks.onFatal(error);
    }
  }

  /** The first block of a fork needs its contracts, and later ones have called them; a forked chain continues one with such blocks. */
  #assertRequestContracts(): void {
    const { chain, fork } = this.#modules.opened;
    const { header } = chain.head().block;
    const next = { number: header.number + 1, timestamp: this.#nextTimestamp(), difficulty: 0n };
    const hardfork = hardforkAt(chain.config, next);
    const isCalled = header.number > 0 && hardforkAt(chain.config, header) === hardfork;
    if (fork !== undefined || isCalled) return;
    const [missing] = missingRequestContracts(chain.stateAt(header.number), hardfork);
    if (missing !== undefined) throw new MissingRequestContractsError(missing);
  }

  /** Minimum tip of transactions in this node's blocks, in wei: the greater of its own and the chain's. */
  #minimumTip(): bigint {
    const { minimumGasPriceWei: own } = this.#config.mempool;
    const { minimumTip: agreed = 0n } = this.#modules.opened.chain.config;
    return own > agreed ? own : agreed;
  }

  #headTimestamp(): number {
    return this.#modules.opened.chain.head().block.header.timestamp;
  }

  /** Unix seconds of a block made now. */
  #nextTimestamp(): number {
    const wallClock = this.#hooks.wallClock?.() ?? Date.now();
    const now = timeOf(wallClock + this.#modules.clockOffsetMs());
    const step = timestampStepOf(this.#config.consensus.blockTime);
    return nextBlockTime(now, this.#headTimestamp(), step).seconds;
  }

  /** Logs why blocks skip waiting transactions: otherwise their senders would never know. */
  #explainUnpacked(): void {
    const { baseFeePerGas = 0n } = this.nextBlock();
    const waiting = [...this.#modules.pool.mempool.content().pending.values()].flat();
    const tooCheap = waiting.filter(({ tx }) => maxFeePerGasOf(tx) < baseFeePerGas);
    const [first] = tooCheap;
    this.#modules.log.warn("pending transactions are not included in blocks", {
      waiting: waiting.length,
      ...(first && { belowBaseFee: tooCheap.length, first: first.tx.hash, maxFeePerGas: maxFeePerGasOf(first.tx) }),
      baseFeePerGas,
    });
  }

  #assertCanCommit(): void {
    if (this.engine.network !== undefined) throw new NetworkDecidesBlocksError();
    this.#assertChangeable();
  }

  /** @throws StoreUncheckedError, ChainBusyError */
  #assertChangeable(): void {
    if (this.#modules.opened.store.isUnchecked) throw new StoreUncheckedError();
    this.#changes.assertNone();
  }

  #createNetworkEngine(): Engine | undefined {
    const { networkEngine, opened, execution, failures, machineTimers, metrics, log, synced } = this.#modules;
    return networkEngine?.createNetworkEngine(this.#config, {
      application: this.application,
      chain: opened.chain,
      rules: genesisRules(opened.genesis.config),
      execution,
      failures,
      timers: machineTimers,
      metrics,
      log,
      synced,
      onFatal: this.#hooks.onFatal,
      // It receives the tips unless another recipient is configured.
      onNewKey: (old, address) => {
        if (this.feeRecipient.value === old) this.feeRecipient.value = address;
      },
      signers: () => {
        const { number } = opened.chain.head().block.header;
        return this.voting.snapshotAt(number).signers.map(({ address }) => address);
      },
    });
  }

  #createSoloEngine(): SoloEngine {
    const { blockTime, feeRecipient: proposer } = this.#config.consensus;
    const { batchAbove } = this.#config.devChain;
    const { opened, pool, timers, clockOffsetMs } = this.#modules;
    return new SoloEngine(
      {
        blockTime,
        batchAbove,
        proposer,
        onFatal: this.#hooks.onFatal,
        isTemporary: isTemporaryFailure,
        onStalled: (cause) => this.#onStalled(cause),
      },
      {
        application: this.application,
        onExecutable: (listener) => pool.mempool.onPending(listener),
        executableCount: () => pool.mempool.pendingCount(),
        onUnpacked: () => this.#explainUnpacked(),
        now: () => timeOf(this.#clock.now() + clockOffsetMs()),
        headTimestamp: () => this.#headTimestamp(),
        packsAhead: opened.patches === undefined,
        timers,
      },
    );
  }

  /** No block can be made on a damaged index, which the next start rebuilds. */
  #onFailure(where: string, error: unknown): void {
    this.#modules.failures.report(where, error);
    if (isIndexDamage(error)) this.#hooks.onFatal(error);
  }

  #onStalled(cause: unknown): void {
    const { opened, failures, log } = this.#modules;
    this.#stalled = cause;
    const { number } = opened.chain.head().block.header;
    if (cause === undefined) log.info("block production resumed", { head: number });
    else failures.report("block production", cause, { head: number });
  }

  #watchClock(): ClockWatch {
    const { acceptsClock, home, dev } = this.#config;
    const { opened, log, metrics } = this.#modules;
    const { wallClock = Date.now, monotonicClock = () => performance.now() } = this.#hooks;
    const { number, timestamp } = opened.chain.head().block.header;
    return createClockWatch(
      {
        forwardJumpMsMax: dev ? CLOCK_JUMP_LIMITS.forwardMsDev : CLOCK_JUMP_LIMITS.forwardMs,
        isAccepted: acceptsClock,
      },
      number === 0 ? undefined : timestamp,
      {
        wallClock,
        monotonicClock,
        metrics,
        log: log.child("clock"),
        clockStop: openClockStopFile(clockStopPath(home)),
      },
    );
  }
}

/** Nothing was stored, and the cause can pass without a restart: a full disk, a clock, a missing system contract. */
function isTemporaryFailure(error: unknown): boolean {
  return (
    error instanceof DiskFullError ||
    error instanceof LogWriteError ||
    error instanceof ClockJumpError ||
    error instanceof OwnProposalRejectedError
  );
}

function timeOf(milliseconds: number): Time {
  return {
    seconds: Math.floor(milliseconds / 1000),
    nanos: Math.floor(milliseconds % 1000) * 1_000_000,
  };
}

/** Whether both attributes open the same header. */
function isSameBlock(a: PayloadAttributes, b: PayloadAttributes): boolean {
  return (
    a.timestamp === b.timestamp &&
    a.feeRecipient === b.feeRecipient &&
    a.gasLimit === b.gasLimit &&
    a.prevRandao === b.prevRandao &&
    a.slotNumber === b.slotNumber &&
    a.forced?.baseFeePerGas === b.forced?.baseFeePerGas
  );
}
