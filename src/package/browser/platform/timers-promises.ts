import { setImmediate as defer, setTimeout as start } from "./timers.ts";

/** `node:timers/promises`. */
export function setImmediate(): Promise<void> {
  return new Promise((resolve) => void defer(resolve));
}

export function setTimeout(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void start(resolve, milliseconds));
}
