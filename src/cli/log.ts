import type { Config } from "../config/config.ts";
import { createLogger, type RootLogger } from "../telemetry/create-logger.ts";
import type { CliContext } from "./context.ts";

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
