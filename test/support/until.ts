import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";

/** Only a hang takes so long: a loaded machine is slow, but not this slow. */
const HANG_MS = 120_000;
const LOOK_MS = 5;

/**
 * Resolves once `condition` holds. Only for what announces itself by no event, message or line of the log: a poll costs the machine what it
 * waits for.
 * @param what the awaited state, for the error
 */
export async function until(condition: () => boolean | Promise<boolean>, what: string | (() => string)): Promise<void> {
  const end = performance.now() + HANG_MS;
  while (!(await condition())) {
    if (performance.now() > end) assert.fail(`waited in vain: ${typeof what === "string" ? what : what()}`);
    await setTimeout(LOOK_MS);
  }
}
