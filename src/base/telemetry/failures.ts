import type { ErrorClass } from "../error-codes.ts";
import { errorClassOf } from "../errors.ts";
import type { LogData, Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";

/**
 * Where failures go that no caller waits for, and those a caller cannot act on.
 *
 * | class      | log                | metric                                             | process   |
 * | ---------- | ------------------ | -------------------------------------------------- | --------- |
 * | `caller`   | debug              | `evmint_failures_total{class="caller",where="…"}`   | goes on   |
 * | `operator` | error, with cause  | `evmint_failures_total{class="operator",where="…"}` | goes on   |
 * | `internal` | error, with stack  | `evmint_failures_total{class="internal",where="…"}` | goes on   |
 *
 * Only an exception that reaches the event loop ends the process (`node/crash-policy.ts`), so whatever an event starts
 * runs inside `guard`, and whatever a timer starts inside that of `Timers` (`timers.ts`).
 */
export type Failures = {
  /** Logs and counts `error`. @param where a constant name */
  report(where: string, error: unknown, data?: LogData): ErrorClass;
  /** `work` as a callback that never throws: its failures, and those of its promise, are reported. */
  guard<Args extends readonly unknown[]>(where: string, work: (...args: Args) => unknown): (...args: Args) => void;
};

export function createFailures(log: Logger, metrics: Pick<Metrics, "counter">): Failures {
  const total = metrics.counter({
    name: "failures_total",
    help: "Failures by class (caller, operator, internal) and place.",
    labels: ["class", "where"],
  });
  function report(where: string, error: unknown, data: LogData = {}): ErrorClass {
    const kind = errorClassOf(error);
    total.add(1, { class: kind, where });
    const line = { where, class: kind, ...data, error };
    if (kind === "caller") log.debug("rejected", line);
    else log.error(kind === "operator" ? "operation failed" : "internal error", line);
    return kind;
  }
  const failures: Failures = {
    report,
    guard:
      (where, work) =>
      (...args) =>
        runGuarded(failures, where, work, ...args),
  };
  return failures;
}

/** Runs `work`; reports its failures, and those of its promise, instead of throwing. */
export function runGuarded<Args extends readonly unknown[]>(
  failures: Pick<Failures, "report">,
  where: string,
  work: (...args: Args) => unknown,
  ...args: Args
): void {
  try {
    const result = work(...args);
    if (result instanceof Promise) result.catch((error) => failures.report(where, error));
  } catch (error) {
    failures.report(where, error);
  }
}
