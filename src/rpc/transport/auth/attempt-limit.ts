import type { Timers } from "../../../base/telemetry/timers.ts";

export type AttemptLimitOptions = {
  /** Failures within `windowMs` that cost nothing. */
  readonly failuresMax: number;
  readonly windowMs: number;
  /** First pause after one failure too many; each further failure doubles it. */
  readonly pauseMs: number;
  readonly pauseMsMax: number;
};

/** Sources that are tracked at once; the one whose last failure is oldest makes room for a new one. */
const SOURCES_MAX = 10_000;

type Record = { failures: number; windowEnd: number; pauseMs: number; blockedUntil: number };

/**
 * Limits sources that fail repeatedly: after some failures the attempts of a source are rejected for a while, and for twice as long
 * after each further failure.
 */
export class AttemptLimit {
  readonly #options: AttemptLimitOptions;
  readonly #timers: Pick<Timers, "now">;
  readonly #sources = new Map<string, Record>();

  constructor(options: AttemptLimitOptions, timers: Pick<Timers, "now">) {
    this.#options = options;
    this.#timers = timers;
  }

  /** Milliseconds until `source` may try again; 0: now. */
  waitMs(source: string): number {
    const record = this.#sources.get(source);
    return record === undefined ? 0 : Math.max(0, record.blockedUntil - this.#timers.now());
  }

  failed(source: string): void {
    const { failuresMax, windowMs, pauseMs, pauseMsMax } = this.#options;
    const now = this.#timers.now();
    let record = this.#sources.get(source);
    // Forgiven once a whole window went by without a failure.
    if (record === undefined || now >= record.windowEnd) {
      record = { failures: 0, windowEnd: 0, pauseMs, blockedUntil: 0 };
    }
    record.failures += 1;
    if (record.failures >= failuresMax) {
      record.blockedUntil = now + record.pauseMs;
      record.pauseMs = Math.min(pauseMsMax, record.pauseMs * 2);
    }
    record.windowEnd = Math.max(now, record.blockedUntil) + windowMs;
    // Set anew, so that the map stays in the order of the last failure.
    this.#sources.delete(source);
    this.#sources.set(source, record);
    if (this.#sources.size > SOURCES_MAX) {
      this.#sources.delete(this.#sources.keys().next().value!);
    }
  }

  /** Sources tracked. */
  get size(): number {
    return this.#sources.size;
  }
}
