import { formatJson, formatText, type LogLine } from "./format.ts";
import { LOG_LEVELS, type LogData, type Logger, type LogLevel } from "./logger.ts";

export type LogFormat = "text" | "json";

export type LoggerOptions = {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Paints levels in text form. */
  readonly color?: boolean;
  /** Takes one line with its line feed. */
  readonly write: (line: string) => void;
  /** Milliseconds of the Unix clock. */
  readonly now?: () => number;
};

/** The root of a tree of loggers, whose level can be changed while it runs. */
export interface RootLogger extends Logger {
  level(): LogLevel;
  /** Applies to this logger and to every child, also to those made before. */
  setLevel(level: LogLevel): void;
}

/** A logger that writes one line an event. */
export function createLogger(options: LoggerOptions): RootLogger {
  const { write, now = Date.now } = options;
  const format =
    options.format === "json"
      ? formatJson
      : (line: LogLine) => formatText(line, options.color ?? false);
  let level = options.level;
  let rank = LOG_LEVELS.indexOf(level);

  function make(module: string, inherited: LogData): Logger {
    function emit(lineLevel: Exclude<LogLevel, "silent">, message: string, data?: LogData): void {
      if (LOG_LEVELS.indexOf(lineLevel) > rank) return;
      const all = data ? { ...inherited, ...data } : inherited;
      write(`${format({ time: now(), level: lineLevel, module, message, data: all })}\n`);
    }
    return {
      error: (message, data) => emit("error", message, data),
      warn: (message, data) => emit("warn", message, data),
      info: (message, data) => emit("info", message, data),
      debug: (message, data) => emit("debug", message, data),
      trace: (message, data) => emit("trace", message, data),
      enabled: (asked) => LOG_LEVELS.indexOf(asked) <= rank,
      child: (name, data) => make(module ? `${module}.${name}` : name, { ...inherited, ...data }),
    };
  }

  return {
    ...make("", {}),
    level: () => level,
    setLevel(next) {
      level = next;
      rank = LOG_LEVELS.indexOf(next);
    },
  };
}
