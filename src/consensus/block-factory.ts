import type { Chain } from "../chain/chain.ts";
import type { BlockHashes } from "../execution/block/block-context.ts";
import type { ExecutionModules } from "../execution/block/block-execution.ts";
import {
  type BlockBuilder,
  createBlockBuilder,
  type PayloadAttributes,
} from "../execution/block/build-block.ts";
import type { Transaction } from "../types/transaction/transaction.ts";

/** Begins a block on the head. */
export type BeginBlock = (attributes: PayloadAttributes) => BlockBuilder;

export type BlockFactoryHooks = {
  /** Called before each transaction is executed, for tests that make the executor fail. */
  readonly beforeTransaction?: ((tx: Transaction) => void) | undefined;
  /** The attributes with what was set by hand for the next block, on a dev chain. */
  readonly override?: ((attributes: PayloadAttributes) => PayloadAttributes) | undefined;
};

export function createBlockFactory(
  chain: Chain,
  execution: ExecutionModules,
  { beforeTransaction, override = (attributes) => attributes }: BlockFactoryHooks = {},
): BeginBlock {
  const blockHash: BlockHashes = (number) => chain.blockHash(number);
  return (attributes) => {
    const { hash, header } = chain.head().block;
    const { number } = header;
    const state = chain.stateAt(number);
    const parent = { hash, header, state, patch: chain.patchAt(number), blockHash };
    const builder = createBlockBuilder(parent, override(attributes), execution);
    if (!beforeTransaction) return builder;
    return {
      header: builder.header,
      gasLeft: () => builder.gasLeft(),
      blobGasLeft: () => builder.blobGasLeft(),
      add(tx, sender) {
        beforeTransaction(tx);
        return builder.add(tx, sender);
      },
      prefetchTrie: (deadline) => builder.prefetchTrie(deadline),
      seal: () => builder.seal(),
    };
  };
}
