import { NodeError } from "../../base/errors.ts";
import type { Chain } from "../../chain/chain.ts";
import type { LogBlockStore } from "../../chain/store/log-block-store.ts";
import { StatePrunedError } from "../../chain/store-errors.ts";
import type { StoreRange } from "../../consensus/cometbft/process/engine-store.ts";
import { setAsideSomeBlocks } from "../chain-files/transfer-chain-file.ts";
import type { RollbackResult, WorkOptions } from "./types.ts";

/** A block to export or to roll back to does not exist. */
export class UnknownRangeError extends NodeError {
  readonly code = "UNKNOWN_RANGE";
}

/** CometBFT could not continue after the rollback; nothing was changed. */
class RollbackImpossibleError extends NodeError {
  readonly code = "ROLLBACK_IMPOSSIBLE";
}

/** The home's CometBFT, which is not running. */
export type RollbackEngine = {
  /** Height of its first block. */
  readonly initialHeight: number;
  readonly range: () => Promise<StoreRange>;
  /** Makes it execute its newest block again at the next start, and older ones that the chain lacks. Idempotent. */
  readonly forgetLastResult: () => Promise<void>;
  /** Moves its data, except the signing state, to a folder. Idempotent. @returns the path */
  readonly setAside: () => string;
};

export type RollbackModules = {
  readonly chain: Chain;
  readonly store: Pick<LogBlockStore, "proofBase">;
  /** Folder for the removed blocks. */
  readonly setAsideDirectory: string;
  /** undefined for the solo engine */
  readonly engine: RollbackEngine | undefined;
};

/**
 * Rolls the chain back to block `to`, after writing the later blocks to a file. CometBFT keeps its blocks: the network has decided them and does
 * not decide them again, and CometBFT replays them at its next start. It only forgets the result of its newest block, which no later block has
 * confirmed. CometBFT is prepared before the chain's first block is removed, and as long as the chain has all blocks, it continues as before:
 * the call can end at any point and be repeated.
 * @throws UnknownRangeError, StatePrunedError, RollbackImpossibleError, and errors of CometBFT's store; nothing is removed then
 */
export async function rollBackChain(
  { to, fromPeers, onProgress, signal }: WorkOptions & { readonly to: number; readonly fromPeers: boolean },
  { chain, store, setAsideDirectory, engine }: RollbackModules,
): Promise<RollbackResult> {
  const { number: head } = chain.head().block.header;
  if (to > head || to < 0) throw new UnknownRangeError(`cannot roll back from block ${head} to block ${to}`);
  const base = store.proofBase();
  if (to < base) throw new StatePrunedError({ number: to, base, root: chain.header(to)!.stateRoot });
  const plan = await planOf(to, fromPeers, chain, engine);
  let file: string | undefined;
  if (to < head) {
    let done = 0;
    const range = { first: to + 1, last: head };
    file = await setAsideSomeBlocks(setAsideDirectory, chain, range, {
      mayContinue: () => !signal.aborted,
      onBlock: () => onProgress({ done: ++done, total: head - to, unit: "blocks" }),
    });
    if (file === undefined) return { head, removed: 0 };
  }
  const said = await plan.run();
  if (to < head) chain.rollbackTo(to);
  return {
    head: to,
    removed: head - to,
    ...(file !== undefined && { file }),
    ...(said !== undefined && { engine: said }),
  };
}

/** Prepares CometBFT, and describes its next start. */
type EnginePlan = { readonly run: () => Promise<string | undefined> };

async function planOf(
  to: number,
  fromPeers: boolean,
  chain: Chain,
  engine: RollbackEngine | undefined,
): Promise<EnginePlan> {
  if (engine === undefined) return { run: async () => undefined };
  const { initialHeight } = engine;
  if (to < initialHeight - 1) {
    throw new RollbackImpossibleError(
      `CometBFT's chain starts at block ${initialHeight}, so the chain cannot be rolled back below block ${initialHeight - 1}`,
      { to, initialHeight },
    );
  }
  if (fromPeers) return fromPeersPlan(to, chain, engine);
  const { base, height } = await engine.range();
  if (height <= to) return { run: async () => keptText(height, to) };
  // CometBFT needs the predecessor of its newest block, to whose state it returns.
  if (to < base - 1 || height === base) {
    throw new RollbackImpossibleError(
      `CometBFT has only blocks ${base} to ${height} and cannot replay all blocks after ${to}: use --from-peers to fetch all blocks from peers`,
      { to, base, height },
    );
  }
  return {
    async run() {
      await engine.forgetLastResult();
      return `keeps its blocks; the next start replays blocks ${to + 1} to ${height} without peers`;
    },
  };
}

function keptText(height: number, to: number): string {
  if (height === to) return `keeps its blocks, which end at ${height} too`;
  return `keeps its blocks, which end at ${height}, before the chain; the next start reconciles the two`;
}

/** @throws RollbackImpossibleError if the chain cannot execute the blocks that CometBFT fetches again */
function fromPeersPlan(to: number, chain: Chain, engine: RollbackEngine): EnginePlan {
  const { initialHeight } = engine;
  const { block, state } = chain.oldest();
  const first = Math.max(block, state);
  if (to >= initialHeight && initialHeight - 1 < first) {
    throw new RollbackImpossibleError(
      `the chain has pruned block ${initialHeight - 1} or its state, from which CometBFT would replay: remove data/ and cometbft/data/ except priv_validator_state.json, and start from a snapshot`,
      { to, initialHeight, first },
    );
  }
  return {
    async run() {
      const folder = engine.setAside();
      return `no longer has blocks (they are in ${folder}): the next start fetches blocks from ${initialHeight} on from peers, and executes those after ${to}. If no peer has them, move the folder's contents back`;
    },
  };
}
