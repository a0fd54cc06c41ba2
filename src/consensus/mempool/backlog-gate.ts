import { NodeError } from "../../base/errors.ts";
import type { Counter, Metrics } from "../../base/telemetry/metrics.ts";
import type { Timers } from "../../base/telemetry/timers.ts";

/** Blocks are late, and the pool holds more transactions than the next blocks can take. */
export class NetworkBehindError extends NodeError {
  readonly code = "POOL_NETWORK_BEHIND";
  constructor(retryAfterMs: number) {
    const seconds = Math.ceil(retryAfterMs / 1_000);
    super(`blocks are late and many transactions are waiting: send it again in ${seconds} s`, {
      data: { retryAfterMs },
    });
  }
}

/** A block that took this many block times was late. A single missing proposer makes one block late. */
const LATE_BLOCKS = 1.5;
/** If a timer runs this much later than due, the machine is overloaded. Executing a full block takes less. */
const DELAY_MS_MAX = 400;
/** Interval of these measurements while transactions arrive. */
const PROBE_MS = 100;
/** Number of blocks for which a late one counts, since its causes last. */
const LATE_FOR_BLOCKS = 10;
/** Transactions that may always wait: a network on the slowest machine takes as many with a block or two. */
const WAITING_MIN = 128;
/** Transactions that may wait, in block times at the pace of the last blocks. */
const WAITING_BLOCKS = 2;
/** Peers may send more: their nodes have acknowledged the transactions, and send them again if refused. */
const PEERS_FACTOR = 4;
/** Blocks over which the pace is measured. */
const PACE_BLOCKS = 8;
const RETRY_BLOCKS_MAX = 30;
/** The pace of an idle network is unknown: the transactions that may always wait are gone after this many block times. */
const IDLE_BLOCKS = 2;
/** A failed round takes this long, whatever the block time is. */
const BLOCK_MS_MIN = 1_000;

type BacklogGateModules = {
  /** Executable transactions in the pool. */
  readonly waiting: () => number;
  readonly timers: Pick<Timers, "now" | "after">;
  readonly metrics: Pick<Metrics, "counter">;
};

/**
 * Defers new transactions while a network falls behind: each one costs every node more than the block that takes it. Consensus, which shares the
 * processors, would stand still as long as callers send. While blocks are in time nothing is deferred, however many transactions wait.
 */
export class BacklogGate {
  readonly #pace: { readonly blockTimeMs: number };
  readonly #modules: BacklogGateModules;
  readonly #putOff: Counter;
  /** Commit times and transaction counts of the newest blocks, the oldest first. */
  readonly #blocks: { readonly at: number; readonly transactions: number }[];
  #blocksSinceLate = LATE_FOR_BLOCKS;
  /** Due time of the current timer. */
  #probeDue: number | undefined;
  /** Delay of the previous timer. */
  #delayMs = 0;

  /** @param pace may change from block to block */
  constructor(pace: { readonly blockTimeMs: number }, modules: BacklogGateModules) {
    this.#pace = pace;
    this.#modules = modules;
    this.#putOff = modules.metrics.counter({
      name: "txpool_put_off_total",
      help: "Transactions deferred because the network is behind, by sender (caller, peer).",
      labels: ["from"],
      values: ["caller", "peer"],
    });
    this.#blocks = [{ at: modules.timers.now(), transactions: 0 }];
  }

  get #blockMs(): number {
    return Math.max(BLOCK_MS_MIN, this.#pace.blockTimeMs);
  }

  committed(transactions: number): void {
    this.#blocksSinceLate = this.#isWaitingLong() ? 0 : this.#blocksSinceLate + 1;
    this.#blocks.push({ at: this.#modules.timers.now(), transactions });
    if (this.#blocks.length > PACE_BLOCKS + 1) this.#blocks.shift();
  }

  /** @throws NetworkBehindError if the transaction must wait */
  assertOpen(from: "caller" | "peer"): void {
    this.#probe();
    if (this.#blocksSinceLate >= LATE_FOR_BLOCKS && !this.#isWaitingLong() && !this.#isBusy()) return;
    const perMs = this.#perMs();
    const factor = from === "peer" ? PEERS_FACTOR : 1;
    const allowed = factor * Math.max(WAITING_MIN, perMs * WAITING_BLOCKS * this.#blockMs);
    const waiting = this.#modules.waiting();
    if (waiting < allowed) return;
    this.#putOff.add(1, { from });
    throw new NetworkBehindError(this.#retryAfterMs(waiting - allowed, perMs));
  }

  #probe(): void {
    if (this.#probeDue !== undefined) return;
    const { timers } = this.#modules;
    const due = timers.now() + PROBE_MS;
    this.#probeDue = due;
    timers.after(PROBE_MS, "delay of the event loop", () => {
      this.#delayMs = timers.now() - due;
      this.#probeDue = undefined;
    });
  }

  #isBusy(): boolean {
    const overdue = this.#modules.timers.now() - (this.#probeDue ?? Number.POSITIVE_INFINITY);
    return Math.max(this.#delayMs, overdue) > DELAY_MS_MAX;
  }

  #isWaitingLong(): boolean {
    return this.#modules.timers.now() - this.#blocks.at(-1)!.at > LATE_BLOCKS * this.#blockMs;
  }

  /**
   * Transactions that blocks take per millisecond. The time since the newest block counts too, and so do empty ones: the transactions of the
   * first block after them have not cost the other nodes anything yet.
   */
  #perMs(): number {
    const [first, ...blocks] = this.#blocks;
    const taken = blocks.reduce((sum, { transactions }) => sum + transactions, 0);
    return taken / Math.max(this.#blockMs, this.#modules.timers.now() - first!.at);
  }

  #retryAfterMs(excess: number, perMs: number): number {
    const blocks = excess / Math.max(perMs * this.#blockMs, WAITING_MIN / IDLE_BLOCKS);
    return Math.round(Math.min(RETRY_BLOCKS_MAX, Math.max(1, blocks)) * this.#blockMs);
  }
}
