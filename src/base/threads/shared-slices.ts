import type { Timers } from "../telemetry/timers.ts";
import { beginWait } from "./waits.ts";

/** Default milliseconds of long work before one turn of everything else: timers, blocks, other requests. */
const SLICE_MS = 3;

/**
 * Time that long work of one kind, of all callers together, may take in one turn of the event loop. Waiting work continues in order of arrival,
 * one piece per turn. Without it, forty batches of 10 ms each would delay every other request by 400 ms.
 *
 *     await slices.enter();
 *     while (hasMore()) {
 *       if (slices.isOver()) await slices.next();
 *       step();
 *     }
 */
export class SharedSlices {
  readonly #sliceMs: number;
  readonly #timers: Pick<Timers, "now">;
  readonly #beginTurnSoon: () => void;
  readonly #waiting: (() => void)[] = [];
  /** End of this turn's slice; undefined: nothing has run in it. */
  #endMs: number | undefined;

  constructor(timers: Pick<Timers, "now" | "deferred">, { sliceMs = SLICE_MS }: { readonly sliceMs?: number } = {}) {
    this.#sliceMs = sliceMs;
    this.#timers = timers;
    this.#beginTurnSoon = timers.deferred("slices of a turn", () => this.#beginTurn());
  }

  /** Call it before the first step: undefined if the step may run now. */
  enter(): Promise<undefined> | undefined {
    return this.#waiting.length > 0 || this.isOver() ? this.next() : undefined;
  }

  /** Whether this turn's time is used up. @param now the clock, if the caller has just read it */
  isOver(now = this.#timers.now()): boolean {
    if (this.#endMs === undefined) {
      this.#endMs = now + this.#sliceMs;
      this.#beginTurnSoon();
    }
    return now > this.#endMs;
  }

  /** Resolves when it is the caller's turn, after all waiting callers. */
  next(): Promise<undefined> {
    this.isOver();
    const ended = beginWait("slice of a turn");
    return new Promise((resolve) => {
      this.#waiting.push(() => {
        ended?.();
        resolve(undefined);
      });
    });
  }

  #beginTurn(): void {
    this.#endMs = undefined;
    const resume = this.#waiting.shift();
    if (resume === undefined) return;
    this.isOver();
    resume();
  }
}
