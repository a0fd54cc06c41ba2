import { andThen } from "../../../base/threads/maybe-promise.ts";
import type { RuntimePort } from "../../ports/runtime.ts";
import { json, jsonInteger, string } from "../../transport/codec.ts";
import { defineMethod } from "../../transport/dispatch/method.ts";

/**
 * `debug_verbosity`: how much is logged: 0 nothing, 1 errors, 2 warnings, 3 what is usual, 4 debug, 5 everything.
 *
 * @throws DebugError where the log belongs to the program around the node
 */
export const verbosity = defineMethod({
  name: "debug_verbosity",
  params: { level: jsonInteger },
  result: json,
  private: true,
  handle: ({ level }, { runtime }: { runtime: Pick<RuntimePort, "setVerbosity"> }) =>
    andThen(runtime.setVerbosity({ level }), () => null),
});

/**
 * `debug_vmodule`: levels of single files: `rpc/*=5,server.ts=4`. An empty text ends them.
 *
 * @throws DebugError for another syntax
 */
export const vmodule = defineMethod({
  name: "debug_vmodule",
  params: { pattern: string },
  result: json,
  private: true,
  handle: ({ pattern }, { runtime }: { runtime: Pick<RuntimePort, "setFileLevels"> }) =>
    andThen(runtime.setFileLevels({ rules: pattern }), () => null),
});

/**
 * `debug_backtraceAt`: the line of code `file.ts:234` is logged with its stack whenever it logs. An empty text ends that.
 *
 * @throws DebugError for another syntax
 */
export const backtraceAt = defineMethod({
  name: "debug_backtraceAt",
  params: { location: string },
  result: json,
  private: true,
  handle: ({ location }, { runtime }: { runtime: Pick<RuntimePort, "setBacktraceAt"> }) =>
    andThen(runtime.setBacktraceAt({ position: location }), () => null),
});
