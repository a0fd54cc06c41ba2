import { allForksAtGenesis, DEFAULT_BLOB_SCHEDULE } from "../../base/params/blob-schedule.ts";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { TimeForkField } from "../../base/params/hardforks.ts";

/**
 * Forks that a dev chain can have as its newest, oldest first. Those before the merge are missing: a block without work, as a dev chain makes
 * them, is a block after the merge.
 */
export const DEV_HARDFORKS = ["paris", "shanghai", "cancun", "prague", "osaka", "bpo1", "bpo2", "amsterdam"] as const;

export type DevHardfork = (typeof DEV_HARDFORKS)[number];

/** What a dev chain has unless its user names another: the newest fork with a date on mainnet. */
export const DEFAULT_DEV_HARDFORK: DevHardfork = "osaka";

/** The newest fork that this version knows. */
export const NEWEST_HARDFORK = DEV_HARDFORKS.at(-1)!;

/** `newest` and every fork before it from block 0 on. */
export function forksAtGenesis(chainId: bigint, newest: DevHardfork): ChainConfig {
  const { shanghaiTime, cancunTime, pragueTime, osakaTime, blobSchedule, ...merge } = allForksAtGenesis(chainId);
  const active = DEV_HARDFORKS.slice(1, DEV_HARDFORKS.indexOf(newest) + 1) as Exclude<DevHardfork, "paris">[];
  return {
    ...merge,
    ...Object.fromEntries(active.map((name) => [`${name}Time` satisfies TimeForkField, 0])),
    blobSchedule: Object.fromEntries(
      active.flatMap((name) => {
        const params = DEFAULT_BLOB_SCHEDULE[name];
        return params === undefined ? [] : [[name, params]];
      }),
    ),
  };
}
