import type { Readable, Writable } from "node:stream";
import type { Config } from "../config/config.ts";
import type { NodeOperations } from "../node/types.ts";
import type { CrashSource } from "../observe/crash-policy.ts";
import { createLogger, type RootLogger } from "../telemetry/create-logger.ts";

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
  /** Loads the node; apart from the commands that need it, nobody pays for that. */
  readonly loadOperations: () => Promise<NodeOperations>;
  /** Calls `listener` for SIGINT and SIGTERM until the returned function is called. */
  readonly onSignal: (listener: (signal: "SIGINT" | "SIGTERM") => void) => () => void;
  /** Where exceptions arrive that nothing caught. */
  readonly crashSource: CrashSource;
  /** Ends the process without waiting for anything. */
  readonly exitNow: (code: number) => void;
};

/** The log of a command, on standard error: standard output belongs to its result. */
export function openLog({ log }: Config, { stderr, environment }: CliContext): RootLogger {
  const terminal = stderr.isTTY === true;
  return createLogger({
    level: log.level,
    format: log.format === "auto" ? (terminal ? "text" : "json") : log.format,
    // https://no-color.org
    color: terminal && !environment["NO_COLOR"],
    write: (line) => stderr.write(line),
  });
}
