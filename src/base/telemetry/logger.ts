/** From least to most verbose. `silent` logs nothing. */
export const LOG_LEVELS = ["silent", "error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Data of one event. Values whose key names a secret are never written. */
export type LogData = Readonly<Record<string, unknown>>;

/**
 * Reports events: a constant message, and all variable parts in `data`.
 *
 * `error`: the operator must act. `warn`: the operator may have to act. `info`: at most once per block. `debug`: once per request. `trace`: more
 * often.
 */
export interface Logger {
  error(message: string, data?: LogData): void;
  warn(message: string, data?: LogData): void;
  info(message: string, data?: LogData): void;
  debug(message: string, data?: LogData): void;
  trace(message: string, data?: LogData): void;
  /** Whether a line of `level` would be written; check before computing costly data. */
  enabled(level: Exclude<LogLevel, "silent">): boolean;
  /** A logger that adds `module` and `data` to each line. */
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
