import type { Hash } from "../../base/primitives/hash.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { SharedSlices } from "../../base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import type { ChainReader } from "../../chain/reader.ts";
import type { StateChanges, StateReader } from "../../evm/state/reader.ts";
import type { BlockNumberOrTag, BlockSelector } from "../../rpc/ports/block-selector.ts";
import type { SealedHeader } from "../../rpc/ports/chain-view.ts";
import { BlockNotCanonicalError, PendingUnavailableError, UnknownBlockError } from "../../rpc/transport/errors.ts";

/** The header of a block and the state after it. It never leaves the chain's thread. */
export type ResolvedState = SealedHeader & {
  readonly state: StateReader;
  /** Present for the pending block, whose trie nodes are not stored: its changes to the state of the head. */
  readonly changes?: StateChanges;
};

/**
 * The block that a selector names; undefined if it does not exist. Every block is final: `safe` and `finalized` are the head.
 * @throws PendingUnavailableError
 */
function findByNumber(chain: ChainReader, selector: BlockNumberOrTag): ExecutedBlock | undefined {
  if (typeof selector === "number") return chain.block(selector);
  if (selector === "earliest") return chain.block(chain.oldest().block);
  if (selector !== "pending") return chain.head();
  const pending = chain.pending();
  if (pending === undefined) throw new PendingUnavailableError("block");
  return pending.executed;
}

/**
 * Like `findByNumber`, but also by hash.
 * @throws BlockNotCanonicalError, PendingUnavailableError
 */
export function findBlock(chain: ChainReader, selector: BlockSelector): ExecutedBlock | undefined {
  if (typeof selector !== "object") return findByNumber(chain, selector);
  const executed = chain.block(selector.blockHash);
  if (executed && selector.requireCanonical) {
    const canonical = chain.block(executed.block.header.number);
    if (canonical?.block.hash !== selector.blockHash) throw new BlockNotCanonicalError();
  }
  return executed;
}

/**
 * Like `findBlock`, but decodes a large block in slices.
 * @throws BlockNotCanonicalError, PendingUnavailableError
 */
export function findBlockInSlices(
  chain: ChainReader,
  selector: BlockSelector,
  slices: SharedSlices,
): MaybePromise<ExecutedBlock | undefined> {
  const number = numberOf(chain, selector);
  if (number === undefined) return typeof selector === "object" ? undefined : findByNumber(chain, selector);
  if (typeof selector === "object") assertCanonical(chain, selector, number);
  return chain.blockInSlices(number, slices);
}

/**
 * Like `findBlock`, but reads only the header.
 * @throws BlockNotCanonicalError, PendingUnavailableError
 */
export function findHeader(chain: ChainReader, selector: BlockSelector): SealedHeader | undefined {
  if (selector === "pending") return sealedHeader(findByNumber(chain, selector)!);
  const number = numberOf(chain, selector);
  if (number === undefined) return typeof selector === "object" ? undefined : sealedHeader(chain.head());
  if (typeof selector === "object") assertCanonical(chain, selector, number);
  const header = chain.header(number);
  const hash = chain.blockHash(number);
  return header && hash && { hash, header };
}

/** @throws BlockNotCanonicalError */
function assertCanonical(
  chain: ChainReader,
  { blockHash, requireCanonical }: Extract<BlockSelector, object>,
  number: number,
): void {
  if (requireCanonical && chain.blockHash(number) !== blockHash) throw new BlockNotCanonicalError();
}

/** The block's number, if the selector alone determines it. */
function numberOf(chain: ChainReader, selector: BlockSelector): number | undefined {
  if (typeof selector === "number") return selector;
  if (selector === "earliest") return chain.oldest().block;
  return typeof selector === "object" ? chain.numberOf(selector.blockHash) : undefined;
}

/**
 * Call this after each pause of work that spans several turns: after a rollback, the block's number may stand for another block.
 * @throws UnknownBlockError
 */
export function assertStands(
  chain: Pick<ChainReader, "blockHash">,
  { number, hash }: { readonly number: number; readonly hash: Hash },
): void {
  if (chain.blockHash(number) !== hash) throw new UnknownBlockError("header not found");
}

export function sealedHeader({ block: { hash, header } }: ExecutedBlock): SealedHeader {
  return { hash, header };
}

/**
 * The state after the block a selector names.
 * @throws UnknownBlockError, BlockNotCanonicalError, PendingUnavailableError
 */
export function resolveState(chain: ChainReader, selector: BlockSelector): ResolvedState {
  if (selector === "pending") {
    const pending = chain.pending();
    if (pending === undefined) throw new PendingUnavailableError("state");
    const { executed, state, changes } = pending;
    return { ...sealedHeader(executed), state, changes };
  }
  const found = findHeader(chain, selector);
  if (found === undefined) {
    throw new UnknownBlockError(typeof selector === "object" ? "header for hash not found" : "header not found");
  }
  const { hash, header } = found;
  return { hash, header, state: chain.stateAt(header.number) };
}
