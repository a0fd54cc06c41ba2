import { formatJson, formatPretty, formatText, type LogLine } from "./format.ts";
import { type CallSite, callSiteOf, isCallSite, parseCallSite, parseRules, ruleLevel } from "./log-rules.ts";
import { LOG_LEVELS, type LogData, type Logger, type LogLevel } from "./logger.ts";
import { createSourcePositions } from "./source-positions.ts";

export type LogFormat = "text" | "json" | "pretty";

const FORMATS: Readonly<Record<LogFormat, (line: LogLine, color: boolean) => string>> = {
  text: formatText,
  json: formatJson,
  pretty: formatPretty,
};

export type LoggerOptions = {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Colours levels in text form. */
  readonly color?: boolean;
  /** Takes one line, including its line feed. */
  readonly write: (line: string) => void;
  /** Milliseconds of the Unix clock. */
  readonly now?: () => number;
};

/** The root of a tree of loggers, whose level can change at run time. */
export interface RootLogger extends Logger {
  level(): LogLevel;
  /** Applies to this logger and all children, including existing ones. */
  setLevel(level: LogLevel): void;
  /**
   * Sets levels of single files, in the syntax of geth's vmodule; false if `rules` is malformed. While rules exist, each line costs a stack
   * trace.
   */
  setFileLevels(rules: string): boolean;
  /** Logs a stack at info whenever the code line `file.ts:234` logs; "" ends that. False if `at` is malformed. */
  setBacktraceAt(at: string): boolean;
}

export function asRootLogger(log: Logger): RootLogger | undefined {
  return "setFileLevels" in log ? (log as RootLogger) : undefined;
}

export function createLogger(options: LoggerOptions): RootLogger {
  const { write, now = Date.now } = options;
  const format = (line: LogLine) => FORMATS[options.format](line, options.color ?? false);
  let level = options.level;
  let rank = LOG_LEVELS.indexOf(level);
  let rules: NonNullable<ReturnType<typeof parseRules>> = [];
  let backtraceAt: CallSite | undefined;
  const originalPosition = createSourcePositions();

  /** Whether call sites can enable lines below the level. */
  let looksAtCallSites = false;

  function make(module: string, inherited: LogData): Logger {
    function emit(lineLevel: Exclude<LogLevel, "silent">, message: string, data?: LogData): void {
      if (looksAtCallSites) {
        emitFromSite(lineLevel, message, data);
        return;
      }
      if (LOG_LEVELS.indexOf(lineLevel) <= rank) writeLine(lineLevel, message, data);
    }

    function emitFromSite(lineLevel: LogLevel, message: string, data?: LogData): void {
      const stack = new Error().stack ?? "";
      const site = callSiteOf(stack, originalPosition);
      if (site && backtraceAt && isCallSite(site, backtraceAt)) {
        writeLine("info", message, { ...data, stack });
        return;
      }
      const fileLevel = site && ruleLevel(rules, site.file);
      const fileRank = fileLevel === undefined ? rank : LOG_LEVELS.indexOf(fileLevel);
      if (LOG_LEVELS.indexOf(lineLevel) <= fileRank) writeLine(lineLevel, message, data);
    }

    function writeLine(lineLevel: LogLevel, message: string, data?: LogData): void {
      const all = data ? { ...inherited, ...data } : inherited;
      write(`${format({ time: now(), level: lineLevel, module, message, data: all })}\n`);
    }
    return {
      error: (message, data) => emit("error", message, data),
      warn: (message, data) => emit("warn", message, data),
      info: (message, data) => emit("info", message, data),
      debug: (message, data) => emit("debug", message, data),
      trace: (message, data) => emit("trace", message, data),
      enabled: (asked) => LOG_LEVELS.indexOf(asked) <= rank || looksAtCallSites,
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
    setFileLevels(text) {
      const parsed = parseRules(text);
      if (parsed !== undefined) rules = parsed;
      looksAtCallSites = rules.length > 0 || backtraceAt !== undefined;
      return parsed !== undefined;
    },
    setBacktraceAt(text) {
      const parsed = parseCallSite(text);
      if (parsed !== undefined || text === "") backtraceAt = parsed;
      looksAtCallSites = rules.length > 0 || backtraceAt !== undefined;
      return parsed !== undefined || text === "";
    },
  };
}
