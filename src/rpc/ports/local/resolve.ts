import type { ChainReader } from "../../../chain/reader.ts";
import type { StateChanges, StateReader } from "../../../state/reader.ts";
import type { ExecutedBlock } from "../../../types/block.ts";
import {
  BlockNotCanonicalError,
  PendingUnavailableError,
  UnknownBlockError,
} from "../../dispatch/errors.ts";
import type { BlockNumberOrTag, BlockSelector } from "../../params/block-selector.ts";

/** A block and the state after it. It never leaves the chain's thread. */
export type ResolvedState = {
  readonly executed: ExecutedBlock;
  readonly state: StateReader;
  /** Present for the pending block, whose trie nodes are not stored: its changes to the head's state. */
  readonly changes?: StateChanges;
};

/**
 * The block a selector names, undefined when there is none. Every block is final: `safe` and `finalized` are the head.
 * @throws PendingUnavailableError
 */
export function findByNumber(
  chain: ChainReader,
  selector: BlockNumberOrTag,
): ExecutedBlock | undefined {
  if (typeof selector === "number") return chain.blockByNumber(selector);
  if (selector === "earliest") return chain.blockByNumber(0);
  if (selector !== "pending") return chain.head();
  const pending = chain.pending();
  if (pending === undefined) throw new PendingUnavailableError("block");
  return pending.executed;
}

/**
 * As `findByNumber`, by hash too.
 * @throws BlockNotCanonicalError, PendingUnavailableError
 */
export function findBlock(chain: ChainReader, selector: BlockSelector): ExecutedBlock | undefined {
  if (typeof selector !== "object") return findByNumber(chain, selector);
  const executed = chain.blockByHash(selector.blockHash);
  if (executed && selector.requireCanonical) {
    const canonical = chain.blockByNumber(executed.block.header.number);
    if (canonical?.block.hash !== selector.blockHash) throw new BlockNotCanonicalError();
  }
  return executed;
}

/**
 * The state after the block a selector names.
 * @throws UnknownBlockError, BlockNotCanonicalError, PendingUnavailableError
 */
export function resolveState(chain: ChainReader, selector: BlockSelector): ResolvedState {
  if (selector === "pending") {
    const pending = chain.pending();
    if (pending === undefined) throw new PendingUnavailableError("state");
    return pending;
  }
  const executed = findBlock(chain, selector);
  if (!executed) {
    throw new UnknownBlockError(
      typeof selector === "object" ? "header for hash not found" : "header not found",
    );
  }
  return { executed, state: chain.stateAt(executed.block.header.number) };
}
