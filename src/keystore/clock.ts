/** A clock for time spans, independent of changes of the wall clock. */
export type MonotonicClock = {
  /** Milliseconds since some moment. */
  now(): number;
  /** Runs `task` about `ms` from now, and not at all once the returned function was called. */
  after(ms: number, task: () => void): () => void;
};

/** Longest time `setTimeout` waits; it turns anything longer into no wait at all. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

/** The process's own; a pending task does not keep the process alive. */
export const SYSTEM_CLOCK: MonotonicClock = {
  now: () => performance.now(),
  after(ms, task) {
    let timer: NodeJS.Timeout;
    const wait = (left: number) => {
      timer = setTimeout(
        () => (left > TIMEOUT_MS_MAX ? wait(left - TIMEOUT_MS_MAX) : task()),
        Math.min(left, TIMEOUT_MS_MAX),
      );
      timer.unref();
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};
