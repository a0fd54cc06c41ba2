import type { Failures } from "../../base/telemetry/failures.ts";
import type { Timers } from "../../base/telemetry/timers.ts";

/** sysexits.h EX_SOFTWARE: a bug ended the process. Supervisors restart it. */
export const CRASH_EXIT_CODE = 70;

/** A longer stop is stuck. Acknowledged data is on disk in any case. */
const STOP_TIMEOUT_MS = 5_000;

/** The parts of `process` that the policy uses. */
export type CrashSource = {
  on(event: "uncaughtException" | "unhandledRejection", listener: (error: unknown) => void): unknown;
  off(event: "uncaughtException" | "unhandledRejection", listener: (error: unknown) => void): unknown;
};

type CrashPolicyModules = {
  readonly source: CrashSource;
  readonly failures: Pick<Failures, "report">;
  /** Stops the node gracefully. */
  readonly stop: () => Promise<void>;
  /** Ends the process immediately. */
  readonly exitNow: (code: number) => void;
  readonly timers: Pick<Timers, "after">;
};

/**
 * Handles exceptions that reach the event loop. The program's state is unknown then, so the policy logs the error with its cause, stops the node
 * gracefully and ends the process with `CRASH_EXIT_CODE`. A second exception during the stop ends it at once.
 *
 * Exceptions of the node's `Timers` and of events inside `Failures.guard` never get here.
 * @returns removes the policy
 */
export function installCrashPolicy({ source, failures, stop, exitNow, timers }: CrashPolicyModules): () => void {
  let isCrashing = false;
  const listenerFor = (where: string) => (error: unknown) => {
    failures.report(where, error);
    if (isCrashing) {
      exitNow(CRASH_EXIT_CODE);
      return;
    }
    isCrashing = true;
    const exit = () => exitNow(CRASH_EXIT_CODE);
    const timer = timers.after(STOP_TIMEOUT_MS, "stop after a crash", exit, { keepsAlive: true });
    stop()
      .catch((failure) => failures.report("stop after a crash", failure))
      .finally(() => {
        timer.cancel();
        exitNow(CRASH_EXIT_CODE);
      });
  };
  const onException = listenerFor("uncaught exception");
  const onRejection = listenerFor("unhandled rejection");
  source.on("uncaughtException", onException);
  source.on("unhandledRejection", onRejection);
  return () => {
    source.off("uncaughtException", onException);
    source.off("unhandledRejection", onRejection);
  };
}
