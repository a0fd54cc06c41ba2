import type { Readable, Writable } from "node:stream";
import { createLogger, type LogFormat, type LoggerOptions, type RootLogger } from "../base/telemetry/create-logger.ts";
import type { Timers } from "../base/telemetry/timers.ts";
import type { Config } from "../node/config/config.ts";
import { ActivityLog } from "../node/observe/activity/activity-log.ts";
import { createPaint } from "../node/observe/activity/paint.ts";
import type { CrashSource } from "../node/observe/crash-policy.ts";
import type { NodeOperations } from "../node/roles/types.ts";
import { hasColors } from "./colors.ts";
import { createLogOutput } from "./log-output.ts";

export type Input = Readable & {
  readonly isTTY?: boolean;
  setRawMode?(mode: boolean): unknown;
};
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The world as a command sees it; a test brings its own. */
export type CliContext = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Milliseconds of the Unix clock. */
  readonly now: () => number;
  readonly timers: Timers;
  /** Loads the node, only for the commands that need it. */
  readonly loadOperations: () => Promise<NodeOperations>;
  /** Calls `listener` for SIGINT and SIGTERM until the returned function is called. */
  readonly onSignal: (listener: (signal: "SIGINT" | "SIGTERM") => void) => () => void;
  /** Where exceptions arrive that nothing caught. */
  readonly crashSource: CrashSource;
  /** Ends the process without waiting for anything. */
  readonly exitNow: (code: number) => void;
};

/** The log of a command, on standard error: standard output belongs to its result. */
export function openLog({ log }: Config, context: CliContext): RootLogger {
  const { level } = log;
  const format = log.format === "auto" ? (context.stderr.isTTY === true ? "text" : "json") : log.format;
  return createLogOn(context, { level, format }, (write) => write);
}

/** How a running node logs: that of a dev chain is for the people at it, unless it is requested otherwise. */
export function nodeLogFormat({ dev, log }: Config, { stderr }: CliContext): LogFormat {
  if (log.format !== "auto") return log.format;
  return dev ? "pretty" : stderr.isTTY === true ? "text" : "json";
}

/** The log of a running node. */
export function openNodeLog(config: Config, context: CliContext): RootLogger {
  const { level } = config.log;
  if (nodeLogFormat(config, context) !== "pretty") return openLog(config, context);
  let activity: ActivityLog | undefined;
  const log = createLogOn(context, { level, format: "pretty" }, (write) => {
    activity = new ActivityLog({
      write,
      paint: createPaint(hasColors(context.stderr, context.environment)),
      timers: context.timers,
      isEnabled: () => log.enabled("info"),
    });
    const { flush } = activity;
    return (line) => {
      flush();
      write(line);
    };
  });
  return Object.assign(log, { activity });
}

/** @param before a filter in front of the output, which receives the logger's lines */
function createLogOn(
  { stderr, environment }: CliContext,
  options: Pick<LoggerOptions, "level" | "format">,
  before: (write: (text: string) => void) => (line: string) => void,
): RootLogger {
  const output = createLogOutput(stderr, (lines) => {
    log.warn("log lines were dropped because their reader is too slow", { lines });
  });
  const log = createLogger({ ...options, color: hasColors(stderr, environment), write: before(output) });
  return log;
}
