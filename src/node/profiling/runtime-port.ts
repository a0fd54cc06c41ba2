import { asRootLogger, type RootLogger } from "../../base/telemetry/create-logger.ts";
import { levelNumbered } from "../../base/telemetry/log-rules.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { DebugError } from "../../rpc/methods/debug/database.ts";
import type { RuntimePort } from "../../rpc/ports/runtime.ts";
import type { CallerFiles } from "../adapters/caller-files.ts";
import { createGarbageCollection } from "./garbage-collection.ts";
import { createProfiles } from "./profiles.ts";

/**
 * This thread's stack and pending work in the style of Go's goroutines: one paragraph each. JavaScript has one stack; pending work has none, and
 * is counted by the resource it waits for.
 */
function stacks(): string {
  const { stack = "" } = new Error();
  const running = stack.split("\n").slice(1).join("\n");
  const waiting = new Map<string, number>();
  for (const resource of process.getActiveResourcesInfo()) {
    waiting.set(resource, (waiting.get(resource) ?? 0) + 1);
  }
  const paragraphs = [...waiting].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    `main [running]:\n${running}`,
    ...paragraphs.map(([resource, count]) => `${resource} [waiting]: ${count}`),
    "",
  ].join("\n\n");
}

/** `RuntimePort` of this thread. @param modules.log the root of the loggers */
export function createRuntimePort(modules: {
  readonly log: Logger;
  readonly files: CallerFiles;
  readonly timers: Timers;
}): RuntimePort & { close(): Promise<void> } {
  const garbageCollection = createGarbageCollection();
  const profiles = createProfiles(modules.files, modules.timers);

  function root(): RootLogger {
    const log = asRootLogger(modules.log);
    if (log === undefined) throw new DebugError("another program owns the log of this node");
    return log;
  }

  return {
    ...garbageCollection,
    ...profiles,
    stacks,
    setVerbosity: ({ level }) => root().setLevel(levelNumbered(level)),
    setFileLevels({ rules }) {
      if (!root().setFileLevels(rules)) {
        throw new DebugError("expect comma-separated list of filename=N");
      }
    },
    setBacktraceAt({ position: at }) {
      if (!root().setBacktraceAt(at)) throw new DebugError("expect file.ts:234");
    },
    close() {
      garbageCollection.close();
      return profiles.close();
    },
  };
}
