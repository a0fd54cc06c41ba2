import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";

/** Only a hang takes so long: a loaded machine is slow, but not this slow. */
export const HANG_MS = 300_000;
const LOOK_MS = 5;

/**
 * The first truthy value of `condition`. Only for what announces itself by no event, message or line of the log: a poll costs the machine what it
 * waits for.
 * @param what the awaited state, for the error
 */
export async function until<T>(condition: () => T | Promise<T>, what: string | (() => string)): Promise<T> {
  const end = performance.now() + HANG_MS;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) assert.fail(`waited in vain: ${typeof what === "string" ? what : what()}`);
    await setTimeout(LOOK_MS);
  }
}

/** What `listen` gets from an event. @param what the awaited event, for the error */
export function eventually<T>(
  listen: (resolve: (value: T) => void) => () => void,
  what: () => string,
  hangMs = HANG_MS,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = globalThis.setTimeout(() => {
      stop();
      reject(new assert.AssertionError({ message: `waited in vain: ${what()}` }));
    }, hangMs);
    // Of a wait that its test has left.
    timer.unref();
    const stop = listen((value) => {
      clearTimeout(timer);
      stop();
      resolve(value);
    });
  });
}
