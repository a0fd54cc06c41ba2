import type { Chain } from "../chain/chain.ts";
import type { PendingBlock } from "../chain/reader.ts";
import type { BlockHashes } from "../execution/block/block-context.ts";
import type { ExecutionModules } from "../execution/block/block-execution.ts";
import { type BlockBuilder, createBlockBuilder, type PayloadAttributes } from "../execution/block/build-block.ts";
import { InvalidBlockError } from "../execution/errors.ts";
import type { RecordedExecutions } from "../execution/parallel/speculation.ts";
import type { Mempool } from "../mempool/mempool.ts";
import { nextGasLimit } from "../params/fees.ts";
import { ZERO_ADDRESS } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Block } from "../types/block.ts";
import type { Transaction } from "../types/transaction/transaction.ts";
import { assembleBlock, PACKING_LIMITS } from "./pack-transactions.ts";
import type { SetAside } from "./quarantine.ts";

/** Begins a block on the head. */
export type BeginBlock = (attributes: PayloadAttributes) => BlockBuilder;

type BlockFactoryHooks = {
  /** Called before each transaction is executed, for tests that make the executor fail. */
  readonly beforeTransaction?: ((tx: Transaction) => void) | undefined;
  /** The attributes with what was set by hand for the next block, on a dev chain. */
  readonly override?: ((attributes: PayloadAttributes) => PayloadAttributes) | undefined;
  /** Executions that other threads have recorded. */
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

/** A built block is reused for this long while head and pool stay the same: only its timestamp would change. */
const REUSE_MS = 2_000;

/**
 * The block tag `pending`: a block built on the head from the pool, with the zero address as fee recipient.
 * @returns a function that returns the current one; undefined when none can be built
 */
export function createPendingBlocks(
  options: { readonly gasLimitTarget: () => bigint; readonly minimumTip: () => bigint },
  modules: {
    readonly chain: Pick<Chain, "config" | "head">;
    readonly mempool: Pick<Mempool, "pendingForBlock" | "version">;
    readonly beginBlock: BeginBlock;
    /** Unix seconds of the block that would be made now. */
    readonly nextTimestamp: () => number;
    readonly setAside: SetAside;
    readonly log: Logger;
  },
): () => PendingBlock | undefined {
  const { chain, mempool, beginBlock, log } = modules;
  let built: { head: Hash; version: number; at: number; block: PendingBlock | undefined } | undefined;

  function build({ header }: Block): PendingBlock | undefined {
    try {
      const attributes = {
        timestamp: modules.nextTimestamp(),
        feeRecipient: ZERO_ADDRESS,
        gasLimit: nextGasLimit(header.gasLimit, options.gasLimitTarget()),
      };
      const { sealed } = assembleBlock(
        () => beginBlock(attributes),
        { ...PACKING_LIMITS, minimumTip: options.minimumTip() },
        { mempool, config: chain.config, setAside: modules.setAside },
      );
      const { executed, state, changes } = sealed;
      return { executed, state, changes };
    } catch (error) {
      if (!(error instanceof InvalidBlockError)) throw error;
      log.warn("no pending block", { parent: header.number, reason: error.message });
      return undefined;
    }
  }

  return () => {
    const head = chain.head().block;
    const at = performance.now();
    const version = mempool.version();
    const isFresh = built?.head === head.hash && built.version === version && at - built.at < REUSE_MS;
    if (!isFresh) built = { head: head.hash, version, at, block: build(head) };
    return built?.block;
  };
}
