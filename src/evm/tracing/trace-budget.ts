import { NodeError } from "../../base/errors.ts";
import { InvalidTransactionError } from "../execution/errors.ts";

/** Nothing to trace: the block or transaction is unknown, or the block has no parent state. */
export class NotTraceableError extends NodeError {
  readonly code = "TRACE_NOT_TRACEABLE";
}

/** The tracer is unknown, or its configuration contradicts itself. */
export class InvalidTracerError extends NodeError {
  readonly code = "TRACE_INVALID_TRACER";
}

/** The caller's JavaScript tracer threw, is not a tracer, or used more memory than a script may. */
export class ScriptFailedError extends NodeError {
  readonly code = "TRACE_SCRIPT_FAILED";
}

/** The transaction could not be re-executed. */
export class TracingFailedError extends NodeError {
  readonly code = "TRACE_FAILED";
}

/** Tracing took longer than the caller allowed. */
export class TracingTimeoutError extends NodeError {
  readonly code = "TRACE_TIMEOUT";
  constructor(timeoutMs: number) {
    super("execution timeout", { timeoutMs });
  }
}

/** The trace exceeds the size limit of an answer. */
export class TraceTooLargeError extends NodeError {
  readonly code = "TRACE_TOO_LARGE";
  constructor(charsMax: number) {
    super(`trace is larger than ${charsMax} bytes: leave out memory or set a limit`, { charsMax });
  }
}

/** `run`'s result; a broken rule of transactions is a trace that failed. */
export function orTracingFailed<T>(run: () => T): T {
  try {
    return run();
  } catch (cause) {
    if (!(cause instanceof InvalidTransactionError)) throw cause;
    const { message, code } = cause;
    throw new TracingFailedError(`tracing failed: ${message}`, { reason: code }, { cause });
  }
}

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

/** A budget of a request that also knows what was taken through it, by one trace. */
export class CountedBudget implements Pick<TraceBudget, "take" | "assertInTime"> {
  readonly #budget: TraceBudget;
  #taken = 0;

  constructor(budget: TraceBudget) {
    this.#budget = budget;
  }

  get taken(): number {
    return this.#taken;
  }

  take(chars: number): void {
    this.#taken += chars;
    this.#budget.take(chars);
  }

  assertInTime(): void {
    this.#budget.assertInTime();
  }
}

/** Text written between two readings of the clock: some 100 µs. A step that shows a megabyte of memory takes as long as many steps. */
const CHARS_PER_CHECK = 64 << 10;

/** @param charsMax characters of all traces together */
export function createTraceBudget(limits: { readonly timeoutMs: number; readonly charsMax: number }): TraceBudget {
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
