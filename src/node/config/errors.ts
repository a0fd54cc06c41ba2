import { NodeError } from "../../base/errors.ts";

/** A value that cannot be what its key needs; the message names the key and where the value came from. */
export class InvalidConfigError extends NodeError {
  readonly code = "CONFIG_INVALID";
}

/** The same for the value of `key`. */
export function invalidSetting(key: string, text: string, options?: ErrorOptions): InvalidConfigError {
  return new InvalidConfigError(`${key}: ${text}`, { key }, options);
}

/** A key that does not exist: a misspelt setting must not be a setting silently left at its default. */
export class UnknownConfigKeyError extends NodeError {
  readonly code = "CONFIG_UNKNOWN_KEY";
  constructor(details: {
    readonly key: string;
    readonly source: string;
    readonly nearest: string | undefined;
    /** What became of a key of an earlier version. */
    readonly fate?: string | undefined;
  }) {
    const { key, source, nearest, fate } = details;
    const guess = nearest === undefined ? "" : `; did you mean ${nearest}?`;
    const hint = fate === undefined ? guess : `; ${fate}`;
    super(`${source}: unknown setting ${key}${hint}`, details);
  }
}
