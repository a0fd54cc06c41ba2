import { NodeError } from "../../base/errors.ts";
import type { Chain } from "../../chain/chain.ts";
import type { LogBlockStore } from "../../chain/store/log-block-store.ts";
import { StatePrunedError } from "../../chain/store-errors.ts";
import type { StoreRange } from "../../consensus/cometbft/process/engine-store.ts";
import { setAsideSomeBlocks } from "../chain-files/transfer-chain-file.ts";
import type { RollbackResult, WorkOptions } from "./types.ts";

/** The block to export or to roll back to does not exist. */
export class UnknownRangeError extends NodeError {
  readonly code = "UNKNOWN_RANGE";
}

/** CometBFT could not go on after the rollback; nothing was changed. */
class RollbackImpossibleError extends NodeError {
  readonly code = "ROLLBACK_IMPOSSIBLE";
}

/** CometBFT of the home, which does not run. */
export type RollbackEngine = {
  /** Height of the first block that it decides. */
  readonly initialHeight: number;
  readonly range: () => Promise<StoreRange>;
  /** Executes its newest block again at the next start, and those before it that the chain has not. May be called again. */
  readonly forgetLastResult: () => Promise<void>;
  /** Moves all that it has stored, but not its signing state, to a folder; the path. May be called again. */
  readonly setAside: () => string;
};

export type RollbackModules = {
  readonly chain: Chain;
  readonly store: Pick<LogBlockStore, "proofBase">;
  /** Folder for the blocks that are removed. */
  readonly setAsideDirectory: string;
  /** undefined where the chain is its own engine's */
  readonly engine: RollbackEngine | undefined;
};

/**
 * Takes the chain back to block `to`. The blocks after it are in a file first. CometBFT's own blocks are the ones that the network has decided, and the
 * network does not decide them again: they stay, and CometBFT gives them to the chain again at its next start. Only its record of what the newest one gave
 * goes, since no later block has confirmed that. Before the chain's first block is removed CometBFT is ready for that, and as long as the chain has
 * all blocks it goes on as if nothing had happened: the call can end at any point, and be made again.
 * @throws UnknownRangeError, StatePrunedError, RollbackImpossibleError, and what reading CometBFT's store throws; nothing is removed then
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

/** What is done with CometBFT; it says what that costs at the next start. */
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
  // Of the newest block CometBFT has to have the one before it, whose state it goes back to.
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

/** @throws RollbackImpossibleError where the chain could not answer for the blocks that CometBFT gets again */
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
