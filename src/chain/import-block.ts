import type { ExecutionModules, SystemUpdate } from "../execution/block/block-execution.ts";
import { executeBlock } from "../execution/block/execute-block.ts";
import { InvalidBlockError } from "../execution/errors.ts";
import { validateBody } from "../execution/validation/validate-body.ts";
import { validateHeader } from "../execution/validation/validate-header.ts";
import type { Address } from "../primitives/address.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import type { Block } from "../types/block.ts";
import type { Chain } from "./chain.ts";

/**
 * Validates and executes `block`, which must follow the head, and makes it the head.
 * @param known what the engine stored with the block, what it changed in the state, and the senders of the first transactions
 * @throws InvalidBlockError, and what a malformed transaction throws; the chain is then as before
 */
export function importBlock(
  chain: Chain,
  block: Block,
  execution: ExecutionModules,
  known: {
    readonly data: Uint8Array;
    readonly systemUpdate?: SystemUpdate;
    readonly senders?: readonly Address[];
  } = { data: EMPTY_BYTES },
): void {
  const { block: parent } = chain.head();
  if (block.header.parentHash !== parent.hash) {
    throw new InvalidBlockError("BLOCK_UNKNOWN_PARENT", "unknown ancestor", {
      parentHash: block.header.parentHash,
      head: parent.hash,
    });
  }
  // Our own chains make several blocks a second, and what was exported has to come in again.
  const rules = { isEqualTimeAllowed: true };
  validateHeader(block.header, parent.header, chain.config, rules);
  validateBody(block, chain.config, (hash) => chain.block(hash)?.block);
  const outcome = executeBlock(
    block,
    {
      header: parent.header,
      state: chain.stateAt(parent.header.number),
      blockHash: (number) => chain.blockHash(number),
    },
    execution,
    known,
  );
  const { senders, receipts, changes, trie } = outcome;
  chain.commit({ block, senders, receipts, changes, consensusData: known.data }, trie.nodes);
}
