import { gasLimitBase, nextGasLimit } from "../base/params/fees.ts";
import { ZERO_ADDRESS } from "../base/primitives/address.ts";
import type { Hash } from "../base/primitives/hash.ts";
import type { Logger } from "../base/telemetry/logger.ts";
import type { Block } from "../base/types/block.ts";
import type { Transaction } from "../base/types/transaction/transaction.ts";
import type { Chain } from "../chain/chain.ts";
import type { PendingBlock } from "../chain/reader.ts";
import type { ExecutionModules } from "../evm/execution/block/block-execution.ts";
import { type BlockBuilder, createBlockBuilder, type PayloadAttributes } from "../evm/execution/block/build-block.ts";
import type { BlockHashes } from "../evm/execution/block-context.ts";
import { InvalidBlockError } from "../evm/execution/errors.ts";
import type { RecordedExecutions } from "../evm/execution/parallel/speculation.ts";
import type { Mempool } from "./mempool/mempool.ts";
import { assembleBlock, PACKING_LIMITS } from "./pack-transactions.ts";
import type { SetAside } from "./quarantine.ts";

/** Begins a block on the head. */
export type BeginBlock = (attributes: PayloadAttributes) => BlockBuilder;

type BlockFactoryHooks = {
  /** Called before each transaction, for tests that make the executor fail. */
  readonly beforeTransaction?: ((tx: Transaction) => void) | undefined;
  /** Adds a dev chain's manual settings for the next block to the attributes. */
  readonly override?: ((attributes: PayloadAttributes) => PayloadAttributes) | undefined;
  /** Executions recorded by other threads. */
  readonly recorded?: RecordedExecutions | undefined;
};

export function createBlockFactory(
  chain: Chain,
  execution: ExecutionModules,
  { beforeTransaction, override = (attributes) => attributes, recorded }: BlockFactoryHooks = {},
): BeginBlock {
  const blockHash: BlockHashes = (number) => chain.blockHash(number);
  return (attributes) => {
    const { hash, header } = chain.head().block;
    const { number } = header;
    const state = chain.stateAt(number);
    const parent = { hash, header, state, patch: chain.patchAt(number), blockHash };
    const { config, stateTrie, evm } = execution;
    const modules = recorded === undefined ? execution : { config, stateTrie, evm, recorded };
    return createBlockBuilder(parent, override(attributes), modules, beforeTransaction);
  };
}

/** A built block is reused for this long while head and pool are unchanged: only its timestamp would differ. */
const REUSE_MS = 2_000;
/**
 * Share of this thread's time for building pending blocks. On a busy chain the pool changes between any two calls, and a block takes up to 500
 * ms.
 */
const BUILDING_SHARE = 0.2;
/** Building time that can accumulate: after a pause, several callers see their last transaction at once. */
const SAVED_MS_MAX = 200;

export type PendingBlockOptions = {
  readonly gasLimitTarget: () => bigint;
  readonly minimumTip: () => bigint;
  /** Shows each change of the pool at once, whatever it costs: for chains without strangers among the callers. */
  readonly alwaysCurrent: boolean;
};

export type PendingBlockModules = {
  readonly chain: Pick<Chain, "config" | "head">;
  readonly mempool: Pick<Mempool, "pendingForBlock" | "updateOrder" | "version">;
  readonly beginBlock: BeginBlock;
  /** Unix seconds of a block made now. */
  readonly nextTimestamp: () => number;
  readonly setAside: SetAside;
  /** Milliseconds */
  readonly now: () => number;
  readonly log: Logger;
};

type Built = {
  readonly head: Hash;
  /** Version of the pool. */
  readonly version: number;
  readonly at: number;
  readonly block: PendingBlock | undefined;
};

/** The block tag `pending`: a block built on the head from the pool, with the zero address as fee recipient. */
export class PendingBlocks {
  readonly #options: PendingBlockOptions;
  readonly #modules: PendingBlockModules;
  #built: Built | undefined;
  /** Remaining building time at the end of the last build; negative after a build that took more. */
  #savedMs = SAVED_MS_MAX;

  constructor(options: PendingBlockOptions, modules: PendingBlockModules) {
    this.#options = options;
    this.#modules = modules;
  }

  /**
   * Undefined if no block can be built. If callers request blocks of a changing pool more often than `BUILDING_SHARE` allows, the block is up to
   * two seconds old, as always in geth. Its parent is always the head.
   */
  current(): PendingBlock | undefined {
    const { chain, mempool, now } = this.#modules;
    const head = chain.head().block;
    const version = mempool.version();
    const last = this.#built;
    const begin = now();
    const age = last === undefined ? Number.POSITIVE_INFINITY : begin - last.at;
    const isOfHead = last?.head === head.hash && age < REUSE_MS;
    const savedMs = Math.min(SAVED_MS_MAX, this.#savedMs + age * BUILDING_SHARE);
    if (isOfHead && (last.version === version || (savedMs <= 0 && !this.#options.alwaysCurrent))) return last.block;
    const block = this.#build(head);
    const at = now();
    this.#savedMs = savedMs - (at - begin);
    this.#built = { head: head.hash, version, at, block };
    return block;
  }

  #build({ header }: Block): PendingBlock | undefined {
    const { mempool, chain, beginBlock, log, setAside, nextTimestamp, now } = this.#modules;
    const { gasLimitTarget, minimumTip } = this.#options;
    try {
      const attributes = {
        timestamp: nextTimestamp(),
        feeRecipient: ZERO_ADDRESS,
        gasLimit: nextGasLimit(gasLimitBase(header, chain.config), gasLimitTarget()),
      };
      const { sealed } = assembleBlock(
        () => beginBlock(attributes),
        { ...PACKING_LIMITS, minimumTip: minimumTip() },
        { mempool, config: chain.config, setAside, now },
      );
      const { executed, state, changes } = sealed;
      return { executed, state, changes };
    } catch (error) {
      if (!(error instanceof InvalidBlockError)) throw error;
      log.warn("no pending block", { parent: header.number, reason: error.message });
      return undefined;
    }
  }
}
