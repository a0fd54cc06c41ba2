import { channel } from "node:diagnostics_channel";

/** One wait for a lock, a queue or another thread, after its end. */
export type Wait = {
  readonly lock: string;
  /** Of an error made where the wait began. */
  readonly stack: string;
  readonly nanoseconds: number;
};

/** The waits of this thread, for `debug_mutexProfile`. Without a subscriber none is looked at. */
export const WAITS = channel("evmint.waits");

/**
 * Called where a wait begins.
 * @returns a function to call at its end; undefined while there is no recording
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
