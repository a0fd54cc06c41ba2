/** Least to most talkative. `silent` logs nothing. */
export const LOG_LEVELS = ["silent", "error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Facts of one event. Values of keys that name a secret are never written, whatever they hold. */
export type LogData = Readonly<Record<string, unknown>>;

/**
 * Reports events: a constant message, and everything that varies in `data`.
 *
 * `error`: the operator must act. `warn`: the operator may have to act. `info`: at most once a block.
 * `debug`: once a request. `trace`: more often.
 */
export interface Logger {
  error(message: string, data?: LogData): void;
  warn(message: string, data?: LogData): void;
  info(message: string, data?: LogData): void;
  debug(message: string, data?: LogData): void;
  trace(message: string, data?: LogData): void;
  /** True when a line of `level` would be written; ask before computing costly data. */
  enabled(level: Exclude<LogLevel, "silent">): boolean;
  /** A logger that puts `module` and `data` on each of its lines. */
  child(module: string, data?: LogData): Logger;
}

/** A logger that writes nothing, for tests and for `silent`. */
export const SILENT_LOGGER: Logger = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  trace() {},
  enabled: () => false,
  child: () => SILENT_LOGGER,
};
