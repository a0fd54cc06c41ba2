import { gzipSync } from "node:zlib";
import { WAITS, type Wait } from "../../base/threads/waits.ts";
import { encodePprof } from "./pprof.ts";

/** Stacks that one recording knows: a program has some hundred places that wait. */
const STACKS_MAX = 10_000;

/** As Go's mutex profile has them. */
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

  /** One of so many waits is recorded from now on; 0: none is, and what is recorded stays. */
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
    // A recorded wait stands for those of its kind that are not.
    if (sum !== undefined) {
      sum.count += this.#fraction;
      sum.nanoseconds += wait.nanoseconds * this.#fraction;
    } else if (this.#sums.size < STACKS_MAX) {
      this.#sums.set(key, { wait, count: this.#fraction, nanoseconds: wait.nanoseconds * this.#fraction });
    }
  };

  /** The profile so far, as `go tool pprof` reads it. */
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
