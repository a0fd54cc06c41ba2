import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The engine of Bun has no flags, and a function of its own. */
const { Bun } = globalThis as { readonly Bun?: { gc(isSynchronous: boolean): void } };

/** Makes a function that collects all garbage of this thread at once; V8 shows it to new contexts only. */
export function garbageCollector(): () => void {
  if (Bun !== undefined) return () => Bun.gc(true);
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
