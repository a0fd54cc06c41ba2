import type { Limits } from "./limits.ts";
import type { Option, SCHEMA } from "./schema.ts";

type Schema = typeof SCHEMA;
type Value<O> = O extends Option<infer T> ? T : never;

/** Every setting with its value, frozen, and what no file can say. */
export type Config = {
  readonly [Group in keyof Schema]: {
    readonly [Name in keyof Schema[Group]]: Value<Schema[Group][Name]>;
  };
} & {
  readonly limits: Limits;
  /** Absolute path of the folder that holds everything of one chain. */
  readonly home: string;
  /** A dev chain: unlocked accounts of a public phrase, every namespace open. */
  readonly dev: boolean;
};

/** Where a value came from. */
export type Origin =
  | { readonly kind: "default" | "dev" }
  /** `name`: the flag, the variable, or the file */
  | { readonly kind: "flag" | "environment" | "file"; readonly name: string };

export type LoadedConfig = {
  readonly config: Config;
  /** By key. */
  readonly origins: ReadonlyMap<string, Origin>;
};

/** `--json-rpc.api`, `environment EVMINT_JSON_RPC_API`, the file's path, `--dev` or `default`. */
export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case "default":
      return "default";
    case "dev":
      return "--dev";
    case "flag":
    case "file":
      return origin.name;
    case "environment":
      return `environment ${origin.name}`;
  }
}
