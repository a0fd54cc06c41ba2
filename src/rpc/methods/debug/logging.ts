import { andThen } from "../../../base/threads/maybe-promise.ts";
import { json, jsonInteger, string } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";

/**
 * `debug_verbosity`: sets the log level: 0 nothing, 1 errors, 2 warnings, 3 info, 4 debug, 5 everything.
 *
 * @throws DebugError where the log belongs to the program around the node
 */
export const verbosity = defineMethod({
  name: "debug_verbosity",
  params: { level: jsonInteger },
  result: json,
  private: true,
  handle: ({ level }, { runtime }) => andThen(runtime.setVerbosity({ level }), () => null),
});

/**
 * `debug_vmodule`: sets log levels of individual files: `rpc/*=5,server.ts=4`. An empty string resets them.
 *
 * @throws DebugError for another syntax
 */
export const vmodule = defineMethod({
  name: "debug_vmodule",
  params: { pattern: string },
  result: json,
  private: true,
  handle: ({ pattern }, { runtime }) => andThen(runtime.setFileLevels({ rules: pattern }), () => null),
});

/**
 * `debug_backtraceAt`: adds a stack trace whenever the line `file.ts:234` logs. An empty string turns this off.
 *
 * @throws DebugError for another syntax
 */
export const backtraceAt = defineMethod({
  name: "debug_backtraceAt",
  params: { location: string },
  result: json,
  private: true,
  handle: ({ location }, { runtime }) => andThen(runtime.setBacktraceAt({ position: location }), () => null),
});
