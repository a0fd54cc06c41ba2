import type { EngineRound } from "./engine-answers.ts";

/** Whether validators with more than two thirds of the voting power take part in deciding the next block. */
export type Quorum = "present" | "absent" | "unknown";

/** A network that makes blocks has a quorum; polls of CometBFT between two of its rounds of votes see none. */
const QUIET_MS = 10_000;
const QUIET_BLOCKS = 5;

/**
 * Knows of a quorum from blocks and from votes, whose signatures CometBFT has checked. Peers say nothing about it: which of them are validators
 * is not known, and one that follows may pass on the votes of all.
 */
export class QuorumWatch {
  readonly #quietMs: number;
  readonly #now: () => number;
  #committedAt: number | undefined;
  #round: EngineRound | undefined;

  /** @param now milliseconds of a clock that never jumps */
  constructor(blockTimeMs: number, now: () => number) {
    this.#quietMs = Math.max(QUIET_MS, QUIET_BLOCKS * blockTimeMs);
    this.#now = now;
  }

  committed(): void {
    this.#committedAt = this.#now();
  }

  /** @param round undefined while CometBFT does not answer or fetches blocks, which are decided without its votes */
  observe(round: EngineRound | undefined): void {
    this.#round = round;
  }

  get quorum(): Quorum {
    const committedAt = this.#committedAt;
    if (committedAt !== undefined && this.#now() - committedAt < this.#quietMs) return "present";
    if (this.#round === undefined) return "unknown";
    const { votedPower, totalPower } = this.#round;
    return votedPower * 3 > totalPower * 2 ? "present" : "absent";
  }
}
