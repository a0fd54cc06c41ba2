import type { EngineRound } from "./engine-answers.ts";

/** Whether validators with more than two thirds of the voting power take part in deciding the next block. */
export type Quorum = "present" | "absent" | "unknown";

/** A network that makes blocks has a quorum; polls of CometBFT between two of its rounds of votes see none. */
const QUIET_MS = 10_000;
const QUIET_BLOCKS = 5;

/**
 * Knows of a quorum from blocks, and from votes that come in: CometBFT has checked their signatures, and leaves a round only with those of more
 * than two thirds. Peers say nothing about it: which of them are validators is not known, and one that follows may pass on the votes of all. Nor do
 * votes that were there before: CometBFT has them for as long as it waits, and reads them from its journal after a restart.
 */
export class QuorumWatch {
  readonly #quietMs: number;
  readonly #now: () => number;
  /** When a quorum was last seen to act. */
  #seenAt = Number.NEGATIVE_INFINITY;
  #round: (EngineRound & { readonly isVoted: boolean }) | undefined;

  /** @param now milliseconds of a clock that never jumps */
  constructor(blockTimeMs: number, now: () => number) {
    this.#quietMs = Math.max(QUIET_MS, QUIET_BLOCKS * blockTimeMs);
    this.#now = now;
  }

  committed(): void {
    this.#seenAt = this.#now();
  }

  /** @param round undefined while CometBFT does not answer or fetches blocks, which are decided without its votes */
  observe(round: EngineRound | undefined): void {
    const last = this.#round;
    const next = round && { ...round, isVoted: round.votedPower * 3 > round.totalPower * 2 };
    this.#round = next;
    if (last === undefined || next === undefined) return;
    const isNext = next.step.height !== last.step.height || next.step.round !== last.step.round;
    if (isNext || (next.isVoted && !last.isVoted)) this.#seenAt = this.#now();
  }

  get quorum(): Quorum {
    if (this.#now() - this.#seenAt < this.#quietMs) return "present";
    // Votes that lead to nothing: those of peers that are gone, or consensus stands still.
    return this.#round === undefined || this.#round.isVoted ? "unknown" : "absent";
  }
}
