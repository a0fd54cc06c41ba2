import type { SystemUpdate } from "../../execution/block/block-execution.ts";
import type { Address } from "../../primitives/address.ts";
import type { StateReader } from "../../state/reader.ts";
import type { Validator } from "../application.ts";
import { atBlock, countVote, type Signer, type Snapshot, type Vote } from "./snapshot.ts";
import { readSnapshot, writeSnapshot } from "./snapshot-storage.ts";
import { type StartingSet, startingSetHash, startSnapshot } from "./starting-set.ts";

/** A vote in block `height`, with what it is counted from where the state holds no votes of this engine yet. */
export type VoteInBlock = {
  readonly height: number;
  readonly proposer: Address;
  readonly vote: Vote;
  readonly startingSet: StartingSet;
};

export type VoteEffect = {
  /** Stores the snapshot after the block. */
  readonly systemUpdate: SystemUpdate;
  /** What the engine has to change: a validator with power 1 is added, one with power 0 removed. */
  readonly validatorUpdates: readonly Validator[];
};

/** The snapshot in `state`, by the votes that count from `startingSet`. */
export function snapshotIn(
  state: Pick<StateReader, "storage">,
  startingSet: StartingSet,
  height: number,
): Snapshot {
  const stored = readSnapshot(state);
  return stored?.startingSetHash === startingSetHash(startingSet)
    ? atBlock(stored, height)
    : startSnapshot(startingSet);
}

/** What a vote does, in a block on the state `parent`; depends on its arguments alone. */
export function voteEffect(parent: StateReader, voteInBlock: VoteInBlock): VoteEffect {
  const { height, proposer, vote, startingSet } = voteInBlock;
  const before = snapshotIn(parent, startingSet, height);
  const after = countVote(before, { ...vote, signer: proposer, block: height });
  const stored = { ...after, startingSetHash: startingSetHash(startingSet) };
  return {
    systemUpdate: (state) => writeSnapshot(stored, state),
    validatorUpdates: [
      ...powers(missing(after.signers, before.signers), 1),
      ...powers(missing(before.signers, after.signers), 0),
    ],
  };
}

/** The signers of `all` that `others` has not. */
function missing(all: readonly Signer[], others: readonly Signer[]): readonly Signer[] {
  const known = new Set(others.map(({ address }) => address));
  return all.filter(({ address }) => !known.has(address));
}

function powers(signers: readonly Signer[], power: number): readonly Validator[] {
  return signers.map((signer) => ({ ...signer, power }));
}
