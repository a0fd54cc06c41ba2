import { gzipSync } from "node:zlib";
import { WAITS, type Wait } from "../../base/threads/waits.ts";
import { encodePprof } from "./pprof.ts";

/** Stacks per recording: a program waits in a few hundred places. */
const STACKS_MAX = 10_000;

/** As in Go's mutex profile. */
const TYPES = [
  { type: "contentions", unit: "count" },
  { type: "delay", unit: "nanoseconds" },
] as const;

/** Records the waits of this thread for locks, queues and other threads, by the stack where they began. */
export class WaitRecorder {
  readonly #sums = new Map<string, { readonly wait: Wait; count: number; nanoseconds: number }>();
  readonly #random: () => number;
  #fraction = 0;
  readonly #beginMs = Date.now();
  readonly #begin = performance.now();

  /** @param random from 0 to 1 */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Records one of this many waits from now on; 0: none. Keeps what is recorded. */
  setFraction(fraction: number): void {
    if (this.#fraction === 0 && fraction > 0) WAITS.subscribe(this.#ended);
    if (this.#fraction > 0 && fraction === 0) WAITS.unsubscribe(this.#ended);
    this.#fraction = fraction;
  }

  get fraction(): number {
    return this.#fraction;
  }

  readonly #ended = (message: unknown): void => {
    if (this.#fraction > 1 && this.#random() * this.#fraction >= 1) return;
    const wait = message as Wait;
    const key = `${wait.lock}\n${wait.stack}`;
    const sum = this.#sums.get(key);
    // A recorded wait also represents skipped ones.
    if (sum !== undefined) {
      sum.count += this.#fraction;
      sum.nanoseconds += wait.nanoseconds * this.#fraction;
    } else if (this.#sums.size < STACKS_MAX) {
      this.#sums.set(key, { wait, count: this.#fraction, nanoseconds: wait.nanoseconds * this.#fraction });
    }
  };

  /** The profile so far, for `go tool pprof`. */
  profile(): Uint8Array {
    const samples = [...this.#sums.values()].map(({ wait: { lock, stack }, count, nanoseconds }) => ({
      values: [count, nanoseconds],
      leaf: lock,
      stack,
    }));
    const options = {
      types: TYPES,
      period: Math.max(1, this.#fraction),
      beginMs: this.#beginMs,
      durationMs: performance.now() - this.#begin,
    };
    return gzipSync(encodePprof(samples, options));
  }
}
