import type { BlockInput } from "../../application.ts";
import type { ConsensusStep } from "../../engine.ts";
import { proposeTimeoutMs } from "../home/config.ts";

/** Clocks of machines differ, and processes pause: no head is late sooner, however short the block time is. */
const LATE_MS_MIN = 4_500;
/** Votes travel, and CometBFT is asked for its round only so often. */
const SLACK_MS = 500;

/** How long a node in `round` may hear nothing of consensus: the rest of a block, the commit timeout, and the wait for a proposer that is down. */
export function lateHeadMs(blockTimeMs: number, round: number): number {
  return Math.max(LATE_MS_MIN, 2 * blockTimeMs + proposeTimeoutMs(blockTimeMs, round) + SLACK_MS);
}

/** CometBFT's number of the step in which it has the votes for a block, and waits for the block: others may be far ahead. */
const COMMIT_STEP = 8;

type VotedRound = { readonly step: ConsensusStep; readonly votedPower: number; readonly totalPower: number };

type HeadAgeModules = {
  /** Unix milliseconds. */
  readonly wallClock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly now: () => number;
  /** Unix seconds of the newest block. */
  readonly timestamp: () => number;
};

/**
 * Whether the newest block can be behind the network. The time of block H is that at which the one before was decided, so a fresh time shows a fresh
 * head. A proposal, a round and two thirds of the votes for block H + 1 show that the network has not decided it, so rounds without a proposer make
 * no head late. They extend only a head that was fresh: CometBFT may replay them from its journal, and hears old ones while it catches up.
 */
export class HeadAge {
  readonly #modules: HeadAgeModules;
  readonly #pace: { readonly blockTimeMs: number };
  /** Height and Unix milliseconds of the block that was decided last. */
  #decided: { readonly height: number; readonly ms: number } | undefined;
  /** When the network was last seen to decide the next block. */
  #seenAt = Number.NEGATIVE_INFINITY;
  #round: { readonly step: ConsensusStep; readonly isVoted: boolean } | undefined;

  /** @param pace may change with the blocks */
  constructor(pace: { readonly blockTimeMs: number }, modules: HeadAgeModules) {
    this.#modules = modules;
    this.#pace = pace;
  }

  proposed({ height }: Pick<BlockInput, "height">): void {
    if (this.#isNext(height)) this.#see();
  }

  finalized({ height, time: { seconds, nanos } }: Pick<BlockInput, "height" | "time">): void {
    this.#decided = { height, ms: seconds * 1_000 + nanos / 1e6 };
  }

  /** @param round undefined while CometBFT does not answer, or fetches blocks */
  observe(round: VotedRound | undefined): void {
    const last = this.#round;
    const next = round && { step: round.step, isVoted: round.votedPower * 3 > round.totalPower * 2 };
    this.#round = next;
    if (next === undefined || last?.step.height !== next.step.height || !this.#isNext(next.step.height)) return;
    if (next.step.step === COMMIT_STEP) return;
    if (next.step.round > last.step.round || (next.isVoted && !last.isVoted)) this.#see();
  }

  get ms(): number {
    const { wallClock, timestamp } = this.#modules;
    const seconds = timestamp();
    const decidedMs = this.#decided?.ms ?? 0;
    // A block from before the start has only whole seconds.
    const isDecided = Math.floor(decidedMs / 1_000) === seconds;
    return wallClock() - (isDecided ? decidedMs : 1_000 * seconds);
  }

  get isLate(): boolean {
    const step = this.#round?.step;
    const round = step !== undefined && this.#isNext(step.height) ? step.round : 0;
    return this.#quietMs > lateHeadMs(this.#pace.blockTimeMs, round);
  }

  /** The next block takes longer than one does whose proposer is there: rounds and votes are worth a look. */
  get isOverdue(): boolean {
    return this.#quietMs > 2 * this.#pace.blockTimeMs;
  }

  /** Since the network was last known to be at the next block at most. */
  get #quietMs(): number {
    return Math.min(this.ms, this.#modules.now() - this.#seenAt);
  }

  #isNext(height: number): boolean {
    return height - 1 === this.#decided?.height;
  }

  #see(): void {
    if (!this.isLate) this.#seenAt = this.#modules.now();
  }
}
