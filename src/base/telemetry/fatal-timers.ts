import { createTimers, type Timers } from "./timers.ts";

/**
 * Timers of a thread, child process or command without `Failures`: a failure of their work reaches the event loop, which ends the process with
 * the error. Lint allows them only in entry points.
 */
export const fatalTimers: Timers = createTimers({
  report(_where, error) {
    throw error;
  },
});
