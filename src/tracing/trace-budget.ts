import { TraceTooLargeError, TracingTimeoutError } from "./errors.ts";

/** What one request for traces may take, however many transactions it traces. */
export type TraceBudget = {
  /** For every transaction of the request together. */
  readonly timeoutMs: number;
  /** `performance.now()` when the time is over. */
  readonly deadlineMs: number;
  /**
   * Counts characters of JSON that a trace is going to have.
   * @throws TraceTooLargeError when all traces of the request have more than they may
   */
  take(chars: number): void;
  /** @throws TracingTimeoutError when the time is over */
  assertInTime(): void;
};

/** @param charsMax characters of all traces together */
export function createTraceBudget(limits: {
  readonly timeoutMs: number;
  readonly charsMax: number;
}): TraceBudget {
  const { timeoutMs, charsMax } = limits;
  const deadlineMs = performance.now() + timeoutMs;
  let left = charsMax;
  return {
    timeoutMs,
    deadlineMs,
    take(chars) {
      left -= chars;
      if (left < 0) throw new TraceTooLargeError(charsMax);
    },
    assertInTime() {
      if (performance.now() > deadlineMs) throw new TracingTimeoutError(timeoutMs);
    },
  };
}
