import type { Failures } from "../../base/telemetry/failures.ts";
import type { Timers } from "../../base/telemetry/timers.ts";

/** sysexits.h EX_SOFTWARE: a bug ended the process. Supervisors restart on it. */
export const CRASH_EXIT_CODE = 70;

/** A stop that takes longer is stuck as well. What was acknowledged is on disk whatever happens. */
const STOP_TIMEOUT_MS = 5_000;

/** The parts of `process` that the policy uses. */
export type CrashSource = {
  on(event: "uncaughtException" | "unhandledRejection", listener: (error: unknown) => void): unknown;
  off(event: "uncaughtException" | "unhandledRejection", listener: (error: unknown) => void): unknown;
};

type CrashPolicyModules = {
  readonly source: CrashSource;
  readonly failures: Pick<Failures, "report">;
  /** Stops the node in order. */
  readonly stop: () => Promise<void>;
  /** Ends the process without waiting for anything. */
  readonly exitNow: (code: number) => void;
  readonly timers: Pick<Timers, "after">;
};

/**
 * The one place for exceptions that reached the event loop: the state of the program is unknown then, so it logs the error with
 * its cause, stops the node in order and ends the process with `CRASH_EXIT_CODE`. A second exception while stopping ends it at once.
 *
 * Nothing gets here that `Timers` of the node runs, or an event inside `Failures.guard`.
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
