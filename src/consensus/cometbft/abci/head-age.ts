import type { BlockInput } from "../../application.ts";
import type { ConsensusStep } from "../../engine.ts";
import { proposeTimeoutMs } from "../home/config.ts";

/** Clocks differ between machines, and processes pause: no head is late sooner, however short the block time is. */
const LATE_MS_MIN = 4_500;
/** Allows for the latency of votes and the interval at which CometBFT is polled for its round. */
const SLACK_MS = 500;

/**
 * How long a node in `round` may hear nothing of consensus. A round without a proposer is silent for the commit timeout and the proposal
 * timeout. A slow machine gets another block time. A sign at an earlier block allows the time of the blocks since then.
 * @param blocks from the block that the network had not decided to the next one
 */
export function lateHeadMs(blockTimeMs: number, round: number, blocks = 0): number {
  return Math.max(LATE_MS_MIN, (2 + blocks) * blockTimeMs + proposeTimeoutMs(blockTimeMs, round) + SLACK_MS);
}

/** CometBFT's number of the step in which it has the votes for a block and waits for the block: others may be far ahead. */
const COMMIT_STEP = 8;

type VotedRound = {
  readonly step: ConsensusStep;
  readonly votedPower: number;
  readonly totalPower: number;
  /** Unix milliseconds: more than two thirds of the validators voted at this height then or later, by their own clocks. */
  readonly votedAtMs: number | undefined;
};

type HeadAgeModules = {
  /** Unix milliseconds. */
  readonly wallClock: () => number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Unix seconds of the newest block. */
  readonly timestamp: () => number;
};

/** At this time, the network had not decided block `height`. */
type Sign = { readonly height: number; readonly atMs: number };

/**
 * Whether the newest block can be behind the network.
 *
 * Signs show a block that the network has not decided yet. From a sign on, the network needs a block time for each block, so the head is late only after
 * `lateHeadMs` since each sign:
 *
 * - the time of block H is when the network decided H - 1;
 * - the times of the votes of two thirds for a block are before its decision, by the clocks of the validators;
 * - a proposal for a block, and a round or two thirds of the votes for it, are before its decision when they arrive. CometBFT may replay them from its
 *   journal, and hears old ones while it catches up, so they extend only a head that was fresh.
 *
 * Rounds without a proposer give signs, so they make no head late. With block times from a second on, `lateHeadMs` of round 0 is less than the network needs
 * for five more blocks.
 */
export class HeadAge {
  readonly #modules: HeadAgeModules;
  readonly #pace: { readonly blockTimeMs: number };
  /** Height and Unix milliseconds of the last decided block. */
  #decided: { readonly height: number; readonly ms: number } | undefined;
  /** By the monotonic clock. */
  #seen: Sign | undefined;
  /** By the validators' clocks. */
  #voted: Sign | undefined;
  #round: { readonly step: ConsensusStep; readonly isVoted: boolean } | undefined;

  /** @param pace may change from block to block */
  constructor(pace: { readonly blockTimeMs: number }, modules: HeadAgeModules) {
    this.#modules = modules;
    this.#pace = pace;
  }

  proposed({ height }: Pick<BlockInput, "height">): void {
    if (this.#isNext(height)) this.#see(height);
  }

  finalized({ height, time: { seconds, nanos } }: Pick<BlockInput, "height" | "time">): void {
    this.#decided = { height, ms: seconds * 1_000 + nanos / 1e6 };
  }

  /** @param round undefined while CometBFT does not answer, or fetches blocks */
  observe(round: VotedRound | undefined): void {
    const last = this.#round;
    const next = round && { step: round.step, isVoted: round.votedPower * 3 > round.totalPower * 2 };
    this.#round = next;
    if (next === undefined || !this.#isNext(next.step.height)) return;
    if (round?.votedAtMs !== undefined) this.#voted = { height: next.step.height, atMs: round.votedAtMs };
    if (last?.step.height !== next.step.height) return;
    if (next.step.step === COMMIT_STEP) return;
    if (next.step.round > last.step.round || (next.isVoted && !last.isVoted)) this.#see(next.step.height);
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
    const { wallClock, now } = this.#modules;
    return (
      this.ms > this.#limitMs(HEAD_TIME_BLOCKS) &&
      this.#isPast(this.#seen, now()) &&
      this.#isPast(this.#voted, wallClock())
    );
  }

  /** Whether the next block takes longer than with a working proposer, so that polling rounds and votes pays. */
  get isOverdue(): boolean {
    const quietMs = Math.min(this.ms, this.#modules.now() - (this.#seen?.atMs ?? Number.NEGATIVE_INFINITY));
    return quietMs > 2 * this.#pace.blockTimeMs;
  }

  /** Whether the sign is too old to tell about the present. */
  #isPast(sign: Sign | undefined, now: number): boolean {
    if (sign === undefined) return true;
    const { height, atMs } = sign;
    const blocks = (this.#decided?.height ?? height) + 1 - height;
    return now - atMs > this.#limitMs(Math.min(Math.max(blocks, 0), HEAD_TIME_BLOCKS));
  }

  #limitMs(blocks: number): number {
    const step = this.#round?.step;
    const round = step !== undefined && this.#isNext(step.height) ? step.round : 0;
    return lateHeadMs(this.#pace.blockTimeMs, round, blocks);
  }

  #isNext(height: number): boolean {
    return height - 1 === this.#decided?.height;
  }

  #see(height: number): void {
    if (!this.isLate) this.#seen = { height, atMs: this.#modules.now() };
  }
}

/** A block's time is when the network decided its predecessor. */
const HEAD_TIME_BLOCKS = 2;
