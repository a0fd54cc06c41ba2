import type { Address } from "../../base/primitives/address.ts";
import type { Chain } from "../../chain/chain.ts";
import type { BadBlocks } from "../../chain/inspect/bad-blocks.ts";
import type { ChainReader } from "../../chain/reader.ts";
import type { LogBlockStore } from "../../chain/store/log-block-store.ts";
import type { BlockTester } from "../../consensus/block-tester.ts";
import type { Engine } from "../../consensus/engine.ts";
import type { Voting } from "../../consensus/governance.ts";
import type { Mempool } from "../../consensus/mempool/mempool.ts";
import type { Submit } from "../../consensus/mempool/submission.ts";
import type { ExecutionModules } from "../../evm/execution/block/block-execution.ts";
import type { NextBlock } from "../../rpc/ports/chain-view.ts";

/** The parts that reads of a chain use. */
export type ChainParts = {
  readonly chain: Chain;
  /** The chain with its pending block. */
  readonly reader: ChainReader;
  readonly store: LogBlockStore;
  readonly execution: ExecutionModules;
};

/** The parts that submissions use. */
export type PoolParts = {
  readonly mempool: Mempool;
  /** Submits a transaction to the pool. */
  readonly submit: Submit;
};

/** The parts that decide which blocks come next. */
export type ProductionParts = {
  readonly engine: Engine;
  readonly voting: Voting;
  readonly blockTester: BlockTester;
  /** Blocks from imports and peers that broke a rule. */
  readonly badBlocks: BadBlocks;
  /** Receives the tips of the next block; may be set while the node runs. */
  readonly feeRecipient: { value: Address };
  /** The next block and the state before its transactions. */
  nextBlock(): NextBlock;
  /**
   * Makes block `number` the head again and removes later blocks; the engine continues from there.
   * @param number at most the head's
   * @throws NetworkDecidesBlocksError under an engine with a network, ChainBusyError while another operation changes the chain
   */
  rewind(number: number): Promise<void>;
  /**
   * Runs `change`, which appends or removes blocks, while the engine is stopped.
   * @param name of the change, for errors of concurrent callers
   * @throws as `rewind`
   */
  withoutEngine<T>(name: string, change: () => Promise<T>): Promise<T>;
};
