import { DEFAULT_BLOB_SCHEDULE } from "../../src/base/params/blob-schedule.ts";
import type { ChainConfig } from "../../src/base/params/chain-config.ts";
import { HARDFORKS, type Hardfork, RULES_AT } from "../../src/base/params/hardforks.ts";
import { FORKS } from "./forks.ts";

/** Where a chain config says when each fork begins. */
const BLOCK_FIELDS: Partial<Record<Hardfork, readonly (keyof ChainConfig)[]>> = {
  homestead: ["homesteadBlock"],
  tangerineWhistle: ["eip150Block"],
  spuriousDragon: ["eip155Block", "eip158Block"],
  byzantium: ["byzantiumBlock"],
  constantinople: ["constantinopleBlock"],
  petersburg: ["petersburgBlock"],
  istanbul: ["istanbulBlock", "muirGlacierBlock"],
  berlin: ["berlinBlock"],
  london: ["londonBlock"],
  paris: ["mergeNetsplitBlock"],
};
const TIME_FIELDS: Partial<Record<Hardfork, readonly (keyof ChainConfig)[]>> = {
  shanghai: ["shanghaiTime"],
  cancun: ["cancunTime"],
  prague: ["pragueTime"],
  osaka: ["osakaTime"],
  // Mainnet has had two forks of blob parameters before it.
  amsterdam: ["bpo1Time", "bpo2Time", "amsterdamTime"],
};

/**
 * The chain config of a network that vectors name: a fork ("Cancun"), or a change from one to another at a
 * block or time ("BerlinToLondonAt5", "ShanghaiToCancunAtTime15k"). Undefined for a name of another kind.
 */
export function configOfNetwork(network: string): ChainConfig | undefined {
  const transition = /^(\w+?)To(\w+?)At(Time)?(\d+)(k?)$/.exec(network);
  if (!transition) {
    const hardfork = FORKS[network];
    return hardfork && configOf(hardfork, hardfork, 0);
  }
  const [, from = "", to = "", , digits = "0", thousands = ""] = transition;
  const before = FORKS[from];
  const after = FORKS[to];
  return before && after && configOf(before, after, Number(digits) * (thousands ? 1000 : 1));
}

/** Forks up to `before` from genesis on, those up to `after` from `at`. */
function configOf(before: Hardfork, after: Hardfork, at: number): ChainConfig {
  const config: Record<string, unknown> = {
    chainId: 1n,
    blobSchedule: DEFAULT_BLOB_SCHEDULE,
    depositContractAddress: "0x00000000219ab540356cbb839cbe05303d7705fa",
  };
  for (const hardfork of HARDFORKS) {
    if (!RULES_AT[after][hardfork]) break;
    const start = RULES_AT[before][hardfork] ? 0 : at;
    for (const field of [...(BLOCK_FIELDS[hardfork] ?? []), ...(TIME_FIELDS[hardfork] ?? [])]) config[field] = start;
  }
  if (RULES_AT[before].paris) config["terminalTotalDifficulty"] = 0n;
  else if (RULES_AT[after].paris) config["terminalTotalDifficulty"] = 1n;
  // The vectors' plain Constantinople is the fork without Petersburg, which a missing field would mean too.
  if (after === "constantinople") config["petersburgBlock"] = Number.MAX_SAFE_INTEGER;
  return config as ChainConfig;
}
