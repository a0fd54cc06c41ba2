import { setTimeout } from "node:timers/promises";

/** Only something that never happens takes as long, whatever else the machine does. */
const HANG_MS = 120_000;
const LOOK_MS = 10;

/** Waits for what nothing announces: the first truthy value of `condition`. @throws Error that names `what` when it never comes */
export async function until<T>(what: string, condition: () => T | Promise<T>): Promise<T> {
  const hung = performance.now() + HANG_MS;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > hung) throw new Error(`waited in vain for ${what}`);
    await setTimeout(LOOK_MS);
  }
}
