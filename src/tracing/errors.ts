import { NodeError } from "../errors.ts";
import { InvalidTransactionError } from "../execution/errors.ts";

/** There is nothing to trace: block or transaction are not known, or have nothing before them. */
export class NotTraceableError extends NodeError {
  readonly code = "TRACE_NOT_TRACEABLE";
}

/** Nobody knows the tracer, or its configuration contradicts itself. */
export class InvalidTracerError extends NodeError {
  readonly code = "TRACE_INVALID_TRACER";
}

/** The caller's JavaScript tracer threw, is not a tracer, or used more memory than a script may. */
export class ScriptFailedError extends NodeError {
  readonly code = "TRACE_SCRIPT_FAILED";
}

/** The transaction could not be run again. */
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

/** The trace became larger than one answer may be. */
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
