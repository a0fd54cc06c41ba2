import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Parameter } from "../../chain/agreement/agreement.ts";
import { readAgreement, writeAgreement } from "../../chain/agreement/agreement.ts";
import type { SystemUpdate } from "../../evm/execution/block/block-execution.ts";
import type { StateReader } from "../../evm/state/reader.ts";
import { jail, type Offence } from "./jail.ts";
import { countParameterVote, openVotes } from "./parameters.ts";
import { countVote, type Signer, type Vote } from "./snapshot.ts";
import { snapshotIn, writeSnapshot } from "./snapshot-storage.ts";
import { type StartingSet, startingSetHash } from "./starting-set.ts";

/** A block's votes and offences. */
export type GovernanceInBlock = {
  /** Vote about a validator. */
  readonly vote?: Vote | undefined;
  readonly parameterVote?: Parameter | undefined;
  /** Present only if the chain's genesis has `jail`. */
  readonly offences?: readonly Offence[];
  readonly startingSet: StartingSet;
};

/** The block, on the state after its parent. */
type BlockPosition = {
  readonly height: number;
  /** Unix seconds */
  readonly timestamp: number;
  readonly proposer: Address;
  readonly config: ChainConfig;
};

type GovernanceEffect = {
  /** Stores the outcome; undefined if it changes nothing. */
  readonly systemUpdate: SystemUpdate | undefined;
  /** Validators that the block adds and removes. */
  readonly joined: readonly Signer[];
  readonly left: readonly Signer[];
  /** The offences that had an effect. */
  readonly jailed: readonly Offence[];
  /** The decision of a vote on a rule; value 0 ends the agreement on a clearable rule. */
  readonly decided: Parameter | undefined;
};

/**
 * The effect of a block on validators and rules: first offences, then the vote about a validator, then the one about a rule. Depends only on its
 * arguments, so that replay, import and state sync reach the same state.
 */
export function governanceEffect(
  parent: StateReader,
  { height, timestamp, proposer, config }: BlockPosition,
  { vote, parameterVote, offences = [], startingSet }: GovernanceInBlock,
): GovernanceEffect {
  const hash = startingSetHash(startingSet);
  const before = snapshotIn(parent, startingSet, height);
  const { snapshot: afterJail, jailed } = jail(before, offences, height);
  const after = vote ? countVote(afterJail, { ...vote, signer: proposer, block: height }) : afterJail;
  const updates: SystemUpdate[] = [];
  if (vote || jailed.length > 0) updates.push((state) => writeSnapshot({ ...after, startingSetHash: hash }, state));
  let decided: Parameter | undefined;
  if (parameterVote) {
    const cast = { ...parameterVote, signer: proposer, block: height };
    const counting = { signers: after.signers, startingSetHash: hash, timestamp, config };
    const agreed = readAgreement(parent);
    const agreement = countParameterVote(agreed, cast, counting);
    if (agreement.values !== agreed.values) decided = parameterVote;
    updates.push((state) => writeAgreement(agreement, state));
  }
  return {
    systemUpdate: updates.length === 0 ? undefined : inOrder(updates),
    joined: missing(after.signers, before.signers),
    left: missing(before.signers, after.signers),
    jailed,
    decided,
  };
}

function inOrder(updates: readonly SystemUpdate[]): SystemUpdate {
  return (state) => {
    for (const update of updates) update(state);
  };
}

/** The agreement after the block with state `state`, with the votes that still count in the next one. */
export function agreementIn(state: StateReader, startingSet: StartingSet, height: number) {
  const agreement = readAgreement(state);
  const { signers } = snapshotIn(state, startingSet, height);
  return {
    values: agreement.values,
    votes: openVotes(agreement, height, { signers, startingSetHash: startingSetHash(startingSet) }),
  };
}

/** The signers of `all` that are not in `others`. */
function missing(all: readonly Signer[], others: readonly Signer[]): readonly Signer[] {
  const known = new Set(others.map(({ address }) => address));
  return all.filter(({ address }) => !known.has(address));
}
