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

/** @param beforeTransaction called before each transaction is executed, for tests that make the executor fail */
export function createBlockFactory(
  chain: Chain,
  execution: ExecutionModules,
  beforeTransaction?: (tx: Transaction) => void,
): BeginBlock {
  const blockHash: BlockHashes = (number) => chain.hashAt(number);
  return (attributes) => {
    const { hash, header } = chain.head().block;
    const parent = { hash, header, state: chain.stateAt(header.number), blockHash };
    const builder = createBlockBuilder(parent, attributes, execution);
    if (!beforeTransaction) return builder;
    return {
      ...builder,
      add(tx, sender) {
        beforeTransaction(tx);
        return builder.add(tx, sender);
      },
    };
  };
}
