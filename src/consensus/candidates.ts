import type { SealedBlock } from "../execution/block/build-block.ts";
import { equalBytes } from "../primitives/bytes.ts";
import type { Hash } from "../primitives/hash.ts";
import type { BlockInput, Proposal, TxResult, Validator } from "./application.ts";

/** A block that was executed and not committed. */
export type Candidate = {
  readonly proposal: Proposal;
  readonly txs: readonly Uint8Array[];
  readonly sealed: SealedBlock;
  /** One for each element of `txs`. */
  readonly results: readonly TxResult[];
  readonly validatorUpdates: readonly Validator[];
};

/** Rounds of one height whose executed blocks are cached; a height with more executes again. */
const CANDIDATES_MAX = 4;

/** The executed blocks of one height, found by what decides their content. */
export class Candidates {
  #candidates: readonly Candidate[] = [];

  /** @param parentHash of the head, which a candidate must follow */
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

/** Votes and misbehavior are left out: nothing in the block depends on them. */
function isSameBlock({ proposal, txs }: Candidate, input: BlockInput): boolean {
  return (
    proposal.height === input.height &&
    proposal.time.seconds === input.time.seconds &&
    proposal.time.nanos === input.time.nanos &&
    proposal.proposer === input.proposer &&
    txs.length === input.txs.length &&
    txs.every((tx, i) => tx === input.txs[i] || equalBytes(tx, input.txs[i]!))
  );
}
