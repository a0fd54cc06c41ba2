import { createTimers, type Timers } from "./timers.ts";

/**
 * Of a thread, a child process or a command, which no `Failures` counts for: a failure of their work reaches the event loop, which ends them with
 * the error. Lint allows them in entry points only.
 */
export const fatalTimers: Timers = createTimers({
  report(_where, error) {
    throw error;
  },
});
