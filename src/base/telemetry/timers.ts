import { type Failures, runGuarded } from "./failures.ts";

/** Scheduled work. */
export type Timer = {
  /** Prevents the work from running, unless it has already. */
  cancel(): void;
};

export type TimerOptions = {
  /** Whether it keeps the process alive; default: false. */
  readonly keepsAlive?: boolean;
};

export type SleepOptions = {
  /** Aborting it rejects the promise with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Default: true, because a process that ends during an `await` ends silently. */
  readonly keepsAlive?: boolean;
};

/**
 * Schedules work inside the guard of `Failures`: an exception in a bare timer reaches the event loop, which ends the node. `where`, a constant,
 * names the work in the log and in `evmint_failures_total`. Only this file uses Node's timers; lint rejects them elsewhere.
 */
export type Timers = {
  /** Monotonic milliseconds, independent of the wall clock. */
  now(): number;
  /** Once, `ms` from now; supports delays beyond Node's limit of 24 days. */
  after(ms: number, where: string, work: () => unknown, options?: TimerOptions): Timer;
  /** Every `ms`, until cancelled. */
  every(ms: number, where: string, work: () => unknown, options?: TimerOptions): Timer;
  /** In a later turn of the event loop. @param options if absent, it keeps the process alive */
  soon(where: string, work: () => unknown, options?: TimerOptions): Timer;
  /** For hot paths: each call of the result runs `work` once in a later turn, without a new closure. */
  deferred(where: string, work: () => unknown): () => void;
  sleep(ms: number, options?: SleepOptions): Promise<void>;
};

/** `setTimeout` turns a longer delay into one millisecond. */
const DELAY_MS_MAX = 2 ** 31 - 1;

export function createTimers(failures: Pick<Failures, "report">): Timers {
  const timers: Timers = {
    now: () => performance.now(),
    after: (ms, where, work, options) => new Waiting(failures, where, work, ms, false, options?.keepsAlive === true),
    every: (ms, where, work, options) => new Waiting(failures, where, work, ms, true, options?.keepsAlive === true),
    soon(where, work, options) {
      const immediate = setImmediate(runGuarded, failures, where, work);
      if (options?.keepsAlive === false) immediate.unref();
      return { cancel: () => clearImmediate(immediate) };
    },
    deferred(where, work) {
      const run = () => runGuarded(failures, where, work);
      return () => void setImmediate(run);
    },
    sleep: (ms, options) => sleepWith(timers, ms, options),
  };
  return timers;
}

export function sleepWith(
  timers: Pick<Timers, "after">,
  ms: number,
  { signal, keepsAlive = true }: SleepOptions = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = timers.after(
      ms,
      "sleep",
      () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      },
      { keepsAlive },
    );
    const abort = () => {
      timer.cancel();
      reject(signal!.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
  });
}

class Waiting implements Timer {
  readonly #failures: Pick<Failures, "report">;
  readonly #where: string;
  readonly #work: () => unknown;
  readonly #ms: number;
  readonly #repeats: boolean;
  readonly #keepsAlive: boolean;
  #left: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    failures: Pick<Failures, "report">,
    where: string,
    work: () => unknown,
    ms: number,
    repeats: boolean,
    keepsAlive: boolean,
  ) {
    this.#failures = failures;
    this.#where = where;
    this.#work = work;
    this.#ms = ms;
    this.#repeats = repeats;
    this.#keepsAlive = keepsAlive;
    this.#left = ms;
    this.#arm();
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }

  #arm(): void {
    const ms = Math.min(this.#left, DELAY_MS_MAX);
    this.#left -= ms;
    this.#timer = setTimeout(Waiting.#end, ms, this);
    if (!this.#keepsAlive) this.#timer.unref();
  }

  static #end(waiting: Waiting): void {
    if (waiting.#left > 0) {
      waiting.#arm();
      return;
    }
    if (waiting.#repeats) {
      waiting.#left = waiting.#ms;
      waiting.#arm();
    }
    runGuarded(waiting.#failures, waiting.#where, waiting.#work);
  }
}
