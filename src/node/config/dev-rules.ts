import { allForksAtGenesis, DEFAULT_BLOB_SCHEDULE } from "../../base/params/blob-schedule.ts";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { TimeForkField } from "../../base/params/hardforks.ts";

/**
 * Forks that can be a dev chain's newest, oldest first. Pre-merge forks are missing: a dev chain's blocks have no proof of work, so they are
 * post-merge blocks.
 */
export const DEV_HARDFORKS = ["paris", "shanghai", "cancun", "prague", "osaka", "bpo1", "bpo2", "amsterdam"] as const;

export type DevHardfork = (typeof DEV_HARDFORKS)[number];

/** The default: the newest fork with a date on mainnet. */
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
