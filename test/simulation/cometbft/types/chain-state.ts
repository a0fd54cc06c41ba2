import type { Reply } from "../../../../src/consensus/cometbft/abci/messages.ts";
import { type ConsensusParams, type Genesis, validatorOf } from "../settings.ts";
import { type Block, consensusHash, resultsHash } from "./block.ts";
import { type StoredValidators, type Validator, ValidatorSet } from "./validator-set.ts";
import type { BlockId, Commit } from "./vote.ts";

/** What a node knows after a block, from which it makes and checks the next one. */
export type ChainState = {
  readonly chainId: string;
  readonly initialHeight: number;
  readonly params: ConsensusParams;
  /** 0 before the first block. */
  readonly lastBlockHeight: number;
  readonly lastBlockId: BlockId | undefined;
  /** Before the first block that of the genesis. */
  readonly lastBlockTime: bigint;
  /** Of the last block; undefined before the first. */
  readonly lastValidators: ValidatorSet | undefined;
  /** Of the next block. */
  readonly validators: ValidatorSet;
  /** Of the block after the next. */
  readonly nextValidators: ValidatorSet;
  readonly appHash: string;
  readonly lastResultsHash: string;
};

/** Hash of no results. */
const NO_RESULTS = resultsHash([]);

export function genesisState({ chainId, initialHeight, params, time, validators }: Genesis): ChainState {
  const set = ValidatorSet.of(validators);
  return {
    chainId,
    initialHeight,
    params,
    lastBlockHeight: 0,
    lastBlockId: undefined,
    lastBlockTime: time,
    lastValidators: undefined,
    validators: set,
    nextValidators: set.incremented(1),
    appHash: "",
    lastResultsHash: NO_RESULTS,
  };
}

export function nextHeight({ lastBlockHeight, initialHeight }: ChainState): number {
  return lastBlockHeight === 0 ? initialHeight : lastBlockHeight + 1;
}

/**
 * The state after `block`. Validator updates of block H are those of H+2 on.
 * @throws Error for updates that CometBFT refuses
 */
export function stateAfter(state: ChainState, block: Block, reply: Reply<"finalizeBlock">): ChainState {
  const nextValidators = state.nextValidators.copy();
  nextValidators.update(updatesOf(reply));
  nextValidators.increment(1);
  return {
    ...state,
    lastBlockHeight: block.height,
    lastBlockId: block.id,
    lastBlockTime: block.header.time,
    lastValidators: state.validators,
    validators: state.nextValidators,
    nextValidators,
    appHash: Buffer.from(reply.appHash).toString("hex"),
    lastResultsHash: resultsHash(reply.txResults),
  };
}

/** @throws Error */
export function updatesOf({
  validatorUpdates,
}: Pick<Reply<"finalizeBlock">, "validatorUpdates">): readonly Validator[] {
  return validatorUpdates.map(({ pubKey, power }) => {
    if (pubKey.secp256k1eth === undefined)
      throw new Error("validator is using a pubkey which is unsupported for consensus");
    return validatorOf(pubKey.secp256k1eth, Number(power));
  });
}

/** Weighted median of the times of a commit: the time of the next block. */
export function medianTime(commit: Commit, validators: ValidatorSet): bigint {
  const votes = commit.signatures
    .map(({ flag, time }, index) => ({ flag, time, power: validators.at(index)!.power }))
    .filter(({ flag }) => flag === 2)
    .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  let rest = Math.floor(votes.reduce((sum, { power }) => sum + power, 0) / 2);
  for (const { time, power } of votes) {
    if (rest <= power) return time;
    rest -= power;
  }
  throw new Error("a commit without votes has no median");
}

/** A block of the next height. */
export function headerFieldsOf(
  state: ChainState,
  { proposer, lastCommit }: { readonly proposer: string; readonly lastCommit: Commit },
) {
  const isFirst = state.lastBlockHeight === 0;
  return {
    appVersion: state.params.appVersion,
    chainId: state.chainId,
    height: nextHeight(state),
    time: isFirst ? state.lastBlockTime : medianTime(lastCommit, state.lastValidators!),
    lastBlockId: state.lastBlockId,
    validatorsHash: state.validators.hash(),
    nextValidatorsHash: state.nextValidators.hash(),
    consensusHash: consensusHash(state.params),
    appHash: state.appHash,
    lastResultsHash: state.lastResultsHash,
    proposer,
  };
}

/** `ChainState` as JSON. */
export type StoredState = Omit<
  ChainState,
  "params" | "lastBlockTime" | "lastBlockId" | "lastValidators" | "validators" | "nextValidators"
> & {
  readonly params: Omit<ConsensusParams, "evidenceAgeNanos"> & { readonly evidenceAgeNanos: string };
  readonly lastBlockId: BlockId | null;
  readonly lastBlockTime: string;
  readonly lastValidators: StoredValidators | null;
  readonly validators: StoredValidators;
  readonly nextValidators: StoredValidators;
};

export function toStored(state: ChainState): StoredState {
  const { params } = state;
  return {
    ...state,
    params: { ...params, evidenceAgeNanos: String(params.evidenceAgeNanos) },
    lastBlockId: state.lastBlockId ?? null,
    lastBlockTime: String(state.lastBlockTime),
    lastValidators: state.lastValidators?.stored() ?? null,
    validators: state.validators.stored(),
    nextValidators: state.nextValidators.stored(),
  };
}

export function fromStored(stored: StoredState): ChainState {
  const { params, lastValidators } = stored;
  return {
    ...stored,
    params: { ...params, evidenceAgeNanos: BigInt(params.evidenceAgeNanos) },
    lastBlockId: stored.lastBlockId ?? undefined,
    lastBlockTime: BigInt(stored.lastBlockTime),
    lastValidators: lastValidators ? ValidatorSet.fromStored(lastValidators) : undefined,
    validators: ValidatorSet.fromStored(stored.validators),
    nextValidators: ValidatorSet.fromStored(stored.nextValidators),
  };
}
