import { START_OF_TIME } from "./simulation.ts";

/** The clocks of a machine: one that is set and drifts, and one that only drifts. Milliseconds. */
export class Clock {
  readonly #trueNow: () => number;
  /** Local milliseconds for each true one. */
  #rate = 1;
  /** Where the monotonic clock was when the rate last changed. */
  #since = { true: 0, monotonic: 0 };
  /** What the wall clock shows beyond the monotonic one. */
  #offset = START_OF_TIME;

  constructor(trueNow: () => number) {
    this.#trueNow = trueNow;
  }

  /** @param at true time; now if not given */
  monotonic(at = this.#trueNow()): number {
    return this.#since.monotonic + (at - this.#since.true) * this.#rate;
  }

  /** Unix milliseconds. */
  wall(at?: number): number {
    return this.#offset + this.monotonic(at);
  }

  /** True milliseconds in which `ms` local ones pass. */
  trueSpan(ms: number): number {
    return ms / this.#rate;
  }

  /** Sets the wall clock forward, or back. */
  jump(ms: number): void {
    this.#offset += ms;
  }

  /** Difference between the wall clock and true time. */
  get error(): number {
    return this.wall() - START_OF_TIME - this.#trueNow();
  }

  set rate(rate: number) {
    const now = this.#trueNow();
    this.#since = { true: now, monotonic: this.monotonic(now) };
    this.#rate = rate;
  }
}
