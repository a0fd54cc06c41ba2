import type * as Replaced from "../../profiling/runtime-port.ts";
import { UnsupportedInBrowserError } from "../web.ts";

function reject(what: string) {
  return () => {
    throw new UnsupportedInBrowserError(what);
  };
}

/** A page sees nothing of its engine's memory and cannot profile itself: a browser's developer tools do that. */
export const createRuntimePort: typeof Replaced.createRuntimePort = () => ({
  memoryStats: reject("statistics of memory"),
  gcStats: reject("statistics of garbage collection"),
  collectGarbage: reject("garbage collection on request"),
  setGcPercent: reject("settings of garbage collection"),
  setMemoryLimit: reject("settings of garbage collection"),
  stacks: reject("stacks"),
  setVerbosity: reject("verbosity"),
  setFileLevels: reject("verbosity"),
  setBacktraceAt: reject("verbosity"),
  startProfile: reject("profiles"),
  stopProfile: reject("profiles"),
  recordProfile: reject("profiles"),
  writeHeapProfile: reject("profiles"),
  setBlockProfileRate: reject("profiles"),
  writeBlockProfile: reject("profiles"),
  async close() {},
});
