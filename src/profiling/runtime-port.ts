import type { CallerFiles } from "../adapters/caller-files.ts";
import { DebugError } from "../rpc/methods/debug/database.ts";
import type { RuntimePort } from "../rpc/ports/runtime.ts";
import { asRootLogger, type RootLogger } from "../telemetry/create-logger.ts";
import { levelNumbered } from "../telemetry/log-rules.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createGarbageCollection } from "./garbage-collection.ts";
import { createProfiles } from "./profiles.ts";
import { stacks } from "./stacks.ts";

/** `RuntimePort` of this thread. @param modules.log the root of the loggers */
export function createRuntimePort(modules: {
  readonly log: Logger;
  readonly files: CallerFiles;
}): RuntimePort & { close(): Promise<void> } {
  const garbageCollection = createGarbageCollection();
  const profiles = createProfiles(modules.files);

  function root(): RootLogger {
    const log = asRootLogger(modules.log);
    if (log === undefined) throw new DebugError("the log of this node belongs to another program");
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
