import { TraceTooLargeError, TracingTimeoutError } from "./errors.ts";

/** What one request for traces may take, however many transactions it traces. */
export type TraceBudget = {
  /** For every transaction of the request together. */
  readonly timeoutMs: number;
  /** `performance.now()` when the time is over. */
  readonly deadlineMs: number;
  /**
   * Counts characters of JSON that a trace is going to have.
   * @throws TraceTooLargeError when all traces of the request have more than they may, TracingTimeoutError when the time is over
   */
  take(chars: number): void;
  /** @throws TracingTimeoutError when the time is over */
  assertInTime(): void;
};

/** Text written between two readings of the clock: some 100 µs. A step that shows a megabyte of memory takes as long as many steps. */
const CHARS_PER_CHECK = 64 << 10;

/** @param charsMax characters of all traces together */
export function createTraceBudget(limits: {
  readonly timeoutMs: number;
  readonly charsMax: number;
}): TraceBudget {
  const { timeoutMs, charsMax } = limits;
  const deadlineMs = performance.now() + timeoutMs;
  let left = charsMax;
  let uncheckedChars = 0;
  function assertInTime(): void {
    if (performance.now() > deadlineMs) throw new TracingTimeoutError(timeoutMs);
  }
  return {
    timeoutMs,
    deadlineMs,
    take(chars) {
      left -= chars;
      if (left < 0) throw new TraceTooLargeError(charsMax);
      uncheckedChars += chars;
      if (uncheckedChars < CHARS_PER_CHECK) return;
      uncheckedChars = 0;
      assertInTime();
    },
    assertInTime,
  };
}
