import type { RequestContext } from "./context.ts";

/** Decides when a caller's call runs, and records its cost. */
export interface CallAdmission {
  /**
   * The result of `start`, which is called once the caller has capacity. `start` runs the work of the call inside the meter it is given, when it
   * is its turn among heavy calls.
   * @throws CapacityExceededError
   */
  run<T>(context: RequestContext, start: (meter: Meter) => T | Promise<T>): T | Promise<T>;
}

/** Runs `work` and charges the caller for it. */
export type Meter = <T>(work: () => T | Promise<T>) => T | Promise<T>;
