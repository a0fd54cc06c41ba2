import { BLOCK_ID_FLAG } from "../../../src/consensus/cometbft/abci/messages.ts";
import type { SigningKeys } from "./signing-keys.ts";
import { type Block, consensusHash } from "./types/block.ts";
import { type ChainState, medianTime, nextHeight } from "./types/chain-state.ts";
import type { ValidatorSet } from "./types/validator-set.ts";
import { type BlockId, type Commit, isSameBlock, votesOf, voteText } from "./types/vote.ts";

type ValidationContext = {
  readonly keys: SigningKeys;
  /** Of this node, in milliseconds since 1970. */
  readonly now: number;
  readonly toleranceMs: number;
};

/**
 * Why `block` cannot follow `state`, in the words of state/validation.go; undefined where it can. Its evidence is the evidence pool's to check.
 */
export function faultOfBlock(
  state: ChainState,
  block: Block,
  { keys, now, toleranceMs }: ValidationContext,
): string | undefined {
  const { header, lastCommit } = block;
  const height = nextHeight(state);
  if (!block.isConsistent) return "wrong Header.DataHash, Header.LastCommitHash or Header.EvidenceHash";
  if (header.chainId !== state.chainId) return "wrong Block.Header.ChainID";
  if (header.appVersion !== state.params.appVersion) return "wrong Block.Header.Version";
  if (block.height !== height) return `wrong Block.Header.Height. Expected ${height}, got ${block.height}`;
  if (!isSameBlock(header.lastBlockId, state.lastBlockId)) return "wrong Block.Header.LastBlockID";
  if (header.appHash !== state.appHash) {
    return `wrong Block.Header.AppHash.  Expected ${state.appHash.toUpperCase()}, got ${header.appHash.toUpperCase()}`;
  }
  if (header.consensusHash !== consensusHash(state.params)) return "wrong Block.Header.ConsensusHash";
  if (header.lastResultsHash !== state.lastResultsHash) return "wrong Block.Header.LastResultsHash";
  if (header.validatorsHash !== state.validators.hash()) return "wrong Block.Header.ValidatorsHash";
  if (header.nextValidatorsHash !== state.nextValidators.hash()) return "wrong Block.Header.NextValidatorsHash";
  const isFirst = state.lastBlockHeight === 0;
  if (isFirst && lastCommit.signatures.length > 0) return "initial block can't have LastCommit signatures";
  if (!isFirst) {
    const blockId = state.lastBlockId!;
    const fault = faultOfCommit(lastCommit, {
      ...state,
      validators: state.lastValidators!,
      blockId,
      height: height - 1,
      keys,
    });
    if (fault !== undefined) return fault;
  }
  if (state.validators.indexOf(header.proposer) < 0) return "block.Header.ProposerAddress is not a validator";
  if (header.time >= BigInt(Math.floor(now + toleranceMs)) * 1_000_000n) {
    return `block time ${header.time} is too far in the future (wall clock ${now} + tolerance ${toleranceMs})`;
  }
  const time = isFirst ? state.lastBlockTime : medianTime(lastCommit, state.lastValidators!);
  if (header.time !== time || (!isFirst && time <= state.lastBlockTime)) {
    return `invalid block time. Expected ${time}, got ${header.time}`;
  }
  return undefined;
}

type ExpectedCommit = {
  readonly chainId: string;
  readonly height: number;
  readonly blockId: BlockId;
  readonly validators: ValidatorSet;
  readonly keys: SigningKeys;
};

/** Why a commit does not prove that `blockId` was decided; every signature is verified. */
export function faultOfCommit(commit: Commit, expected: ExpectedCommit): string | undefined {
  const { chainId, height, blockId, validators, keys } = expected;
  if (commit.signatures.length !== validators.size) {
    return `invalid commit -- wrong set size: ${validators.size} vs ${commit.signatures.length}`;
  }
  if (commit.height !== height) return `invalid commit -- wrong height: ${height} vs ${commit.height}`;
  if (!isSameBlock(commit.blockId, blockId)) return "invalid commit -- wrong block ID";
  let fault: string | undefined;
  const isProof = () => {
    fault = faultOfSignatures(commit, expected);
    return fault === undefined;
  };
  keys.isVerified(commit, `${chainId}/${height}/${blockId.hash}/${blockId.parts.hash}/${validators.hash()}`, isProof);
  return fault;
}

function faultOfSignatures(commit: Commit, { chainId, validators, keys }: ExpectedCommit): string | undefined {
  let power = 0;
  for (const vote of votesOf(commit)) {
    const validator = validators.at(vote.index)!;
    const isSigned = keys.isSignedBy(validator.publicKey, voteText(chainId, vote), vote.signature);
    if (validator.address !== vote.address || !isSigned) return `wrong signature (#${vote.index})`;
    if (commit.signatures[vote.index]!.flag === BLOCK_ID_FLAG.commit) power += validator.power;
  }
  return validators.isQuorum(power) ? undefined : "invalid commit -- insufficient voting power";
}
