import type { Transaction } from "../../../base/types/transaction/transaction.ts";
import type { Chain } from "../../../chain/chain.ts";
import type { ChainReader } from "../../../chain/reader.ts";
import { CHECKED_FIRST_BYTES_MAX } from "../../../chain/store/index/index-files.ts";
import type { LogBlockStore } from "../../../chain/store/log-block-store.ts";
import { StoreUncheckedError } from "../../../chain/store-errors.ts";
import { createBlockFactory } from "../../../consensus/pending-block.ts";
import { DevChain } from "../../../dev/dev-chain.ts";
import { NO_DEV_JOURNAL, openDevJournal } from "../../../dev/dev-journal.ts";
import type { ExecutionModules } from "../../../evm/execution/block/block-execution.ts";
import type { PayloadAttributes } from "../../../evm/execution/block/build-block.ts";
import { openLogDirectory } from "../../../store/storage/log/log-file.ts";
import type { ChainParts } from "../../adapters/parts.ts";
import { createSpeculationThreads, type SpeculationThreads } from "../../calls/speculation-threads.ts";
import type { ThreadedCompiler } from "../../compiled-contracts/threaded-compiler.ts";
import { createContractCompiler } from "../../compiled-contracts/threaded-compiler.ts";
import type { Config } from "../../config/config.ts";
import { devJournalPath, isInMemory } from "../../config/home.ts";
import { executionModules } from "./execution-modules.ts";
import { type OpenChain, type OpenChainOptions, openChain } from "./open-chain.ts";
import { PoolRole } from "./pool-role.ts";
import { type ChainRoleModules, type ProductionHooks, ProductionRole } from "./production-role.ts";

export type ChainRoleHooks = OpenChainOptions &
  ProductionHooks & {
    /** Called inside the executor with each transaction of a block, for tests that make it fail. */
    readonly beforeTransaction?: (tx: Transaction) => void;
    /** Size from which a dev chain's journal may be rewritten. */
    readonly devJournalBytesMin?: number;
  };

/**
 * The parts of a node that own or change the chain, without listeners: the open store, the pool, block production, and the control of a dev
 * chain. Built bottom-up; nothing runs before `start`, and `stop` releases in reverse.
 */
export class ChainRole implements ChainParts {
  readonly opened: OpenChain;
  readonly chain: Chain;
  readonly store: LogBlockStore;
  readonly reader: ChainReader;
  readonly execution: ExecutionModules;
  /** Compiles hot contracts; undefined if they are only interpreted. */
  readonly compiler: ThreadedCompiler | undefined;
  readonly pool: PoolRole;
  readonly production: ProductionRole;
  /** Undefined if dev methods are not available. */
  readonly devChain: DevChain | undefined;
  readonly #speculation: SpeculationThreads | undefined;

  constructor(config: Config, modules: ChainRoleModules, hooks: ChainRoleHooks) {
    const { log, metrics, timers, machineTimers } = modules;
    this.opened = openChain(
      config,
      { log, timers },
      {
        // After a state sync, CometBFT already waits for its application.
        ...(modules.synced === undefined && { checkedFirstBytesMax: CHECKED_FIRST_BYTES_MAX }),
        ...hooks,
        movesIndex: true,
        onIndexFault: hooks.onFatal,
      },
    );
    const { chain, store, patches } = this.opened;
    this.chain = chain;
    this.store = store;
    this.compiler = createContractCompiler(config, log.child("evm"), { metrics, timers: machineTimers });
    this.execution = executionModules(chain, this.compiler);
    const override = (attributes: PayloadAttributes) => this.devChain?.override(attributes) ?? attributes;
    this.#speculation = createSpeculationThreads(config, log.child("evm"), this, {
      metrics,
      timers: machineTimers,
      compiler: this.compiler,
    });
    const speculation = this.#speculation?.speculation;
    const beginBlock = createBlockFactory(chain, this.execution, {
      recorded: speculation,
      beforeTransaction: hooks.beforeTransaction,
      override: patches && override,
    });
    this.pool = new PoolRole(config, {
      ...modules,
      opened: this.opened,
      admit: (submission) => this.devChain?.admit(submission) ?? submission,
      failPoint: hooks.failPoint,
    });
    try {
      this.production = new ProductionRole(
        config,
        {
          ...modules,
          opened: this.opened,
          pool: this.pool,
          beginBlock,
          speculation,
          execution: this.execution,
          override,
          clockOffsetMs: () => this.devChain?.clockOffsetMs ?? 0,
        },
        hooks,
      );
    } catch (error) {
      // The engine's files are wrong: leaves the home free for the next attempt.
      this.pool.stop();
      this.compiler?.close();
      this.store.close();
      throw error;
    }
    this.reader = { ...chain, pending: this.production.pending };
    this.pool.follow();
    this.devChain = this.#openDevChain(config, hooks);
  }

  async start(): Promise<void> {
    await this.production.start();
    this.pool.start();
  }

  /** Closes the store last. */
  async stop(): Promise<void> {
    await this.production.stop();
    await this.#speculation?.close();
    this.devChain?.close();
    this.pool.stop();
    this.compiler?.close();
    this.store.close();
    await this.opened.fork?.close();
  }

  /** Undefined if dev methods are not available. */
  #openDevChain(config: Config, { wallClock = Date.now, devJournalBytesMin }: ChainRoleHooks): DevChain | undefined {
    const { chain, patches, store } = this.opened;
    const { production, pool } = this;
    const { solo } = production;
    const { mixedMining, gasLimit, autoImpersonate, baseFeeWei } = config.devChain;
    if (patches === undefined || solo === undefined) return undefined;
    return new DevChain({
      chain,
      patches,
      mempool: pool.mempool,
      blobs: pool.blobWorkers,
      rewind: (number) => production.rewind(number),
      range: { begin: () => store.beginRange(), isOpen: () => store.isInRange, end: () => store.endRange() },
      commitTogether: (work) => production.commitTogether(work),
      configured: { gasLimit: gasLimit ?? undefined, autoImpersonate, baseFeePerGas: baseFeeWei ?? undefined },
      base: store.base() ?? 0,
      engine: {
        configuredMode: { ...solo.configuredMode, ...(mixedMining && { automine: true }) },
        setMode: (mode) => solo.setMode(mode),
        produceBlock: () => production.produceBlock(),
      },
      journal: isInMemory(config)
        ? NO_DEV_JOURNAL
        : openDevJournal(openLogDirectory(devJournalPath(config.home)), devJournalBytesMin),
      assertChangeable() {
        if (store.isUnchecked) throw new StoreUncheckedError();
      },
      now: wallClock,
    });
  }
}
