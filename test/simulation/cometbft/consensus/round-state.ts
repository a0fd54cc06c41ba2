import type { Block } from "../types/block.ts";
import type { ChainState } from "../types/chain-state.ts";
import type { ValidatorSet } from "../types/validator-set.ts";
import { type BlockId, isSameBlock, type Proposal } from "../types/vote.ts";
import type { HeightVotes, VoteSet } from "../types/vote-set.ts";

/** Numbers of the steps, as CometBFT's RPC shows them. */
export const STEP = {
  newHeight: 1,
  newRound: 2,
  propose: 3,
  prevote: 4,
  prevoteWait: 5,
  precommit: 6,
  precommitWait: 7,
  commit: 8,
} as const;
export type Step = (typeof STEP)[keyof typeof STEP];

/** Where consensus is: consensus/types/round_state.go. */
export type RoundState = {
  height: number;
  round: number;
  step: Step;
  /** Milliseconds since 1970 at which round 0 begins. */
  startTime: number;
  commitTime: number | undefined;
  /** Of this round: its proposer is next. */
  validators: ValidatorSet;
  proposal: Proposal | undefined;
  proposalBlock: Block | undefined;
  /** The block that is awaited or there, whoever proposed it. */
  expectedBlock: BlockId | undefined;
  lockedRound: number;
  lockedBlock: Block | undefined;
  validRound: number;
  validBlock: Block | undefined;
  votes: HeightVotes;
  commitRound: number;
  /** The precommits of the last height; late ones are added while its successor has not begun. */
  lastCommit: VoteSet | undefined;
  hasPrecommitTimeout: boolean;
  state: ChainState;
};

export function isBlock(block: Block | undefined, id: BlockId | undefined): boolean {
  return block !== undefined && id !== undefined && isSameBlock(block.id, id);
}
