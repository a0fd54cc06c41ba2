import { equalBytes } from "../base/primitives/bytes.ts";
import type { Hash } from "../base/primitives/hash.ts";
import type { Parameter } from "../chain/agreement/agreement.ts";
import type { SealedBlock } from "../evm/execution/block/build-block.ts";
import type { BlockInput, Proposal, TxResult, Validator } from "./application.ts";
import type { GovernanceInBlock } from "./voting/block-effect.ts";

/** An executed block that is not committed. */
export type Candidate = {
  readonly proposal: Proposal;
  readonly txs: readonly Uint8Array[];
  readonly sealed: SealedBlock;
  /** One per element of `txs`. */
  readonly results: readonly TxResult[];
  readonly validatorUpdates: readonly Validator[];
  /** Votes and offences to store with the block. */
  readonly cast?: GovernanceInBlock;
  /** The decision of its vote about a rule. */
  readonly decided?: Parameter;
};

/** Rounds of one height whose executed blocks are cached; with more, blocks are executed again. */
const CANDIDATES_MAX = 4;

/** The executed blocks of one height, found by the inputs that determine their content. */
export class Candidates {
  #candidates: readonly Candidate[] = [];

  /** @param parentHash of the head, which must be the candidate's parent */
  find(input: BlockInput, parentHash: Hash): Candidate | undefined {
    return this.#candidates.find(
      (candidate) => candidate.sealed.executed.block.header.parentHash === parentHash && isSameBlock(candidate, input),
    );
  }

  add(candidate: Candidate): void {
    this.#candidates = [...this.#candidates, candidate].slice(-CANDIDATES_MAX);
  }

  clear(): void {
    this.#candidates = [];
  }
}

/** Ignores the votes of the last commit, on which nothing in the block depends. Misbehavior affects validators, so it is compared. */
function isSameBlock({ proposal, txs }: Candidate, input: BlockInput): boolean {
  return (
    proposal.height === input.height &&
    proposal.time.seconds === input.time.seconds &&
    proposal.time.nanos === input.time.nanos &&
    proposal.proposer === input.proposer &&
    (proposal.misbehavior === input.misbehavior || isSameMisbehavior(proposal, input)) &&
    (txs === input.txs || areSameTransactions(txs, input.txs))
  );
}

function areSameTransactions(ours: readonly Uint8Array[], theirs: readonly Uint8Array[]): boolean {
  return ours.length === theirs.length && ours.every((tx, i) => tx === theirs[i] || equalBytes(tx, theirs[i]!));
}

function isSameMisbehavior({ misbehavior: ours }: Proposal, { misbehavior: theirs }: Proposal): boolean {
  return (
    ours.length === theirs.length &&
    ours.every(({ address, height }, i) => address === theirs[i]?.address && height === theirs[i]?.height)
  );
}
