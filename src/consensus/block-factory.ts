import type { Chain } from "../chain/chain.ts";
import type { BlockHashes } from "../execution/block/block-context.ts";
import type { ExecutionModules } from "../execution/block/block-execution.ts";
import {
  type BlockAttributes,
  type BlockBuilder,
  createBlockBuilder,
} from "../execution/block/build-block.ts";

/** Begins a block on the head. */
export type BeginBlock = (attributes: BlockAttributes) => BlockBuilder;

export function createBlockFactory(chain: Chain, execution: ExecutionModules): BeginBlock {
  const blockHash: BlockHashes = (number) => chain.hashAt(number);
  return (attributes) => {
    const { hash, header } = chain.head().block;
    const parent = { hash, header, state: chain.stateAt(header.number), blockHash };
    return createBlockBuilder(parent, attributes, execution);
  };
}
