import type { ValueType } from "./value-types.ts";

/** One setting: the same key names it in `app.toml`, as a flag (`--KEY`) and, in capitals, in the environment. */
export type Option<T> = {
  readonly key: string;
  readonly type: ValueType<T>;
  readonly default: T;
  /** Stands in for `default` with `--dev`. */
  readonly dev?: T;
  /** The value `init` writes into a new `app.toml`, where it is not the default. */
  readonly init?: T;
  /** One sentence for help and `app.toml`. */
  readonly description: string;
};

// T comes from the type alone, so that a literal default does not narrow it.
export function option<T>(
  key: string,
  type: ValueType<T>,
  value: NoInfer<T>,
  rest: {
    readonly dev?: NoInfer<T>;
    readonly init?: NoInfer<T>;
    readonly description: string;
  },
): Option<T> {
  return { key, type, default: value, ...rest };
}
