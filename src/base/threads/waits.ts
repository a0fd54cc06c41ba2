import { channel } from "node:diagnostics_channel";

/** A finished wait for a lock, a queue or another thread. */
export type Wait = {
  readonly lock: string;
  /** Stack of an error created where the wait began. */
  readonly stack: string;
  readonly nanoseconds: number;
};

/** The waits of this thread, for `debug_mutexProfile`. Without a subscriber, none is recorded. */
export const WAITS = channel("evmint.waits");

/**
 * Called where a wait begins.
 * @returns a function to call at its end; undefined unless a recording runs
 */
export function beginWait(lock: string): (() => void) | undefined {
  if (!WAITS.hasSubscribers) return undefined;
  const { stack = "" } = new Error();
  const begin = performance.now();
  return () => {
    const wait: Wait = { lock, stack, nanoseconds: Math.round((performance.now() - begin) * 1e6) };
    WAITS.publish(wait);
  };
}
