import { jsonInteger, nothing, string } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";

/**
 * `debug_verbosity`: sets the log level: 0 nothing, 1 errors, 2 warnings, 3 info, 4 debug, 5 everything.
 *
 * @throws DebugError where the log belongs to the program around the node
 */
export const verbosity = defineMethod({
  name: "debug_verbosity",
  params: { level: jsonInteger },
  result: nothing,
  private: true,
  handle: ({ level }, { runtime }) => runtime.setVerbosity({ level }),
});

/**
 * `debug_vmodule`: sets log levels of individual files: `rpc/*=5,server.ts=4`. An empty string resets them.
 *
 * @throws DebugError for another syntax
 */
export const vmodule = defineMethod({
  name: "debug_vmodule",
  params: { pattern: string },
  result: nothing,
  private: true,
  handle: ({ pattern }, { runtime }) => runtime.setFileLevels({ rules: pattern }),
});

/**
 * `debug_backtraceAt`: adds a stack trace whenever the line `file.ts:234` logs. An empty string turns this off.
 *
 * @throws DebugError for another syntax
 */
export const backtraceAt = defineMethod({
  name: "debug_backtraceAt",
  params: { location: string },
  result: nothing,
  private: true,
  handle: ({ location }, { runtime }) => runtime.setBacktraceAt({ position: location }),
});
