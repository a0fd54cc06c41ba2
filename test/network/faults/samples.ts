/** What `/readyz` says. */
export type Readiness = { readonly ready: boolean; readonly head: number; readonly reason?: string | undefined };

/** A node said that it is ready, and was more than `BEHIND_MAX` blocks behind what had been answered before it was asked. */
export type LateAnswer = { readonly node: number; readonly head: number; readonly highest: number };

export type SampleCounts = {
  begun: number;
  ready: number;
  notReady: number;
  /** Of nodes to which nothing happened: a balancer would take them out for the fault of another one. */
  healthyNotReady: number;
  /** What those said, with how often. */
  readonly reasons: Record<string, number>;
  /** No connection, or it ended. */
  unanswered: number;
  late: number;
  /** The longest time in which this program did not run. Milliseconds. */
  longestStandstillMs: number;
};

/** A block that so many validators have that they can decide the next one. */
export type MajorityBlock = {
  readonly number: number;
  /** Since the block before, less what this program did not run. Milliseconds. */
  readonly gapMs: number;
};

/** So many blocks a node may be behind and say that it is ready. */
const BEHIND_MAX = 5;

/**
 * Judges answers of `/readyz`. It does not matter how long an answer takes, or how long this program stands still: an answer is compared with what was
 * answered before the question was asked.
 */
export class Samples {
  readonly counts: SampleCounts = {
    begun: 0,
    ready: 0,
    notReady: 0,
    healthyNotReady: 0,
    reasons: {},
    unanswered: 0,
    late: 0,
    longestStandstillMs: 0,
  };
  readonly #intervalMs: number;
  readonly #heads: number[];
  /** Of the validators, the smallest number with more than two thirds of the votes. */
  readonly #quorum: number;
  #highest = 0;
  #majority = 0;
  #majorityMs: number | undefined;
  #tickMs: number | undefined;
  /** Since the newest block of the majority. */
  #standstillMs = 0;
  /** Nodes of a fault, until they have recovered from it. */
  away: readonly number[] = [];

  /** @param validators the first nodes, with equal votes @param intervalMs between two calls of `tick` */
  constructor(validators: number, intervalMs: number) {
    this.#heads = Array.from({ length: validators }, () => 0);
    this.#quorum = Math.floor((2 * validators) / 3) + 1;
    this.#intervalMs = intervalMs;
  }

  /** To be called each `intervalMs`. */
  tick(nowMs: number): void {
    const late = nowMs - (this.#tickMs ?? nowMs - this.#intervalMs) - this.#intervalMs;
    this.#tickMs = nowMs;
    this.#standstillMs += Math.max(0, late);
    this.counts.longestStandstillMs = Math.max(this.counts.longestStandstillMs, late);
  }

  /** The highest head that was ever answered, to be given to `answered` with the answer to what is asked now. */
  begin(): number {
    this.counts.begun++;
    return this.#highest;
  }

  unanswered(): void {
    this.counts.unanswered++;
  }

  /** @param highest what `begin` returned */
  answered(node: number, highest: number, { ready, head, reason = "" }: Readiness): LateAnswer | undefined {
    if (ready) this.counts.ready++;
    else {
      this.counts.notReady++;
      if (!this.away.includes(node)) this.#unreadyWithoutFault(reason.replace(/\d+/g, "N"));
    }
    this.#highest = Math.max(this.#highest, head);
    if (node < this.#heads.length) this.#heads[node] = head;
    if (!ready || head >= highest - BEHIND_MAX) return undefined;
    this.counts.late++;
    return { node, head, highest };
  }

  #unreadyWithoutFault(reason: string): void {
    this.counts.healthyNotReady++;
    this.counts.reasons[reason] = (this.counts.reasons[reason] ?? 0) + 1;
  }

  /** The newest block of the majority, where it is newer than at the last call. */
  majorityBlock(nowMs: number): MajorityBlock | undefined {
    const number = this.#heads.toSorted((a, b) => b - a)[this.#quorum - 1]!;
    if (number <= this.#majority) return undefined;
    const gapMs = this.#majorityMs === undefined ? 0 : nowMs - this.#majorityMs - this.#standstillMs;
    this.#majority = number;
    this.#majorityMs = nowMs;
    this.#standstillMs = 0;
    return { number, gapMs };
  }
}
