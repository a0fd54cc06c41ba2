import { CHECKPOINT_LIMITS } from "../../heritage/les/checkpoints/checkpoint.ts";
import {
  CALL_LIMITS,
  DETAIL_LIMITS,
  FILTER_LIMITS,
  PROCESS_LIMITS,
  SERVER_LIMITS,
  SUBSCRIPTION_LIMITS,
  TOKEN_LIMITS,
} from "../../rpc/transport/limits.ts";
import { DAPP_DB_LIMITS } from "../../store/storage/dapp-db.ts";
import type { DEV_FLAGS } from "./dev-flags.ts";
import type { SCHEMA } from "./schema.ts";
import type { Option } from "./value-types.ts";

type Schema = typeof SCHEMA;
type Value<O> = O extends Option<infer T> ? T : never;

/** All settings with their values, frozen, and values that only the command line gives. */
export type Config = {
  readonly [Group in keyof Schema]: {
    readonly [Name in keyof Schema[Group]]: Value<Schema[Group][Name]>;
  };
} & {
  readonly devChain: { readonly [Name in keyof typeof DEV_FLAGS]: Value<(typeof DEV_FLAGS)[Name]> };
  readonly limits: Limits;
  /** Absolute path of the folder with all data of one chain. */
  readonly home: string;
  /** A dev chain: accounts of a public mnemonic are unlocked, all namespaces are open. */
  readonly dev: boolean;
  /** Makes blocks although the clock jumped far forward or is after 2099. */
  readonly acceptsClock: boolean;
};

export type LoadedConfig = {
  readonly config: Config;
  /** The origin of each value, by key: `--json-rpc.api`, `environment EVMINT_JSON_RPC_API`, the file's path, `--dev` or `default`. */
  readonly origins: ReadonlyMap<string, string>;
};

/**
 * Fixed limits that tests change: lower to reach them, or higher so that a busy machine does not. Each is a constant beside the code that it
 * bounds. docs/reference/settings.md lists all fixed limits.
 */
export const LIMITS = {
  server: SERVER_LIMITS,
  tokens: TOKEN_LIMITS,
  processes: PROCESS_LIMITS,
  calls: CALL_LIMITS,
  details: DETAIL_LIMITS,
  filters: FILTER_LIMITS,
  subscriptions: SUBSCRIPTION_LIMITS,
  checkpoints: CHECKPOINT_LIMITS,
  dappDb: DAPP_DB_LIMITS,
} as const;

type Fixed = typeof LIMITS;

/** The limits of one node, by subject. */
export type Limits = {
  readonly [Group in keyof Fixed]: { readonly [Name in keyof Fixed[Group]]: number };
};

export type LimitChanges = { readonly [Group in keyof Limits]?: Partial<Limits[Group]> };

export function limitsWith(changes: LimitChanges = {}): Limits {
  const groups = Object.entries(LIMITS).map(([group, limits]) => [
    group,
    Object.freeze({ ...limits, ...changes[group as keyof Limits] }),
  ]);
  return Object.freeze(Object.fromEntries(groups)) as Limits;
}
