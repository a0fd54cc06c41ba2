import { NodeError } from "../../base/errors.ts";

/** An invalid value; the message names the key and the origin of the value. */
export class InvalidConfigError extends NodeError {
  readonly code = "CONFIG_INVALID";
}

/** An InvalidConfigError for the value of `key`. */
export function invalidSetting(key: string, text: string, options?: ErrorOptions): InvalidConfigError {
  return new InvalidConfigError(`${key}: ${text}`, { key }, options);
}

/** An unknown key: a misspelt setting must not silently leave its default in force. */
export class UnknownConfigKeyError extends NodeError {
  readonly code = "CONFIG_UNKNOWN_KEY";
  constructor(details: {
    readonly key: string;
    readonly source: string;
    readonly nearest: string | undefined;
    /** What became of an earlier version's key. */
    readonly fate?: string | undefined;
  }) {
    const { key, source, nearest, fate } = details;
    const guess = nearest === undefined ? "" : `; did you mean ${nearest}?`;
    const hint = fate === undefined ? guess : `; ${fate}`;
    super(`${source}: unknown setting ${key}${hint}`, details);
  }
}
