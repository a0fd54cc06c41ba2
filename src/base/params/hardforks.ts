import type { ChainConfig } from "./chain-config.ts";

/** Every set of execution rules we know, oldest first. Blob parameter forks (EIP-7892) change no rule and are not here. */
export const HARDFORKS = [
  "frontier",
  "homestead",
  "tangerineWhistle",
  "spuriousDragon",
  "byzantium",
  "constantinople",
  "petersburg",
  "istanbul",
  "berlin",
  "london",
  "paris",
  "shanghai",
  "cancun",
  "prague",
  "osaka",
  "amsterdam",
] as const;

export type Hardfork = (typeof HARDFORKS)[number];

const ORDER: Readonly<Record<Hardfork, number>> = Object.fromEntries(
  HARDFORKS.map((name, index) => [name, index]),
) as Record<Hardfork, number>;

/** True if `fork` includes the rules of `since`. */
export function isAtLeast(fork: Hardfork, since: Hardfork): boolean {
  return ORDER[fork] >= ORDER[since];
}

/** What of a header decides about its rules. */
export type ForkPoint = {
  readonly number: number;
  readonly timestamp: number;
  readonly difficulty: bigint;
};

export type BlockForkField = Extract<keyof ChainConfig, `${string}Block`>;
export type TimeForkField = Extract<keyof ChainConfig, `${string}Time`>;

/** Newest first. */
const TIME_FORKS = [
  ["amsterdam", "amsterdamTime"],
  ["osaka", "osakaTime"],
  ["prague", "pragueTime"],
  ["cancun", "cancunTime"],
  ["shanghai", "shanghaiTime"],
] as const satisfies readonly (readonly [Hardfork, TimeForkField])[];

/** The field of genesis files that begins `hardfork`; undefined for hardforks that begin at a block. */
export function timeFieldOf(hardfork: Hardfork): TimeForkField | undefined {
  return TIME_FORKS.find(([name]) => name === hardfork)?.[1];
}

/** Newest first. Forks that only move the difficulty bomb change no rule we have. */
const BLOCK_FORKS = [
  ["london", "londonBlock"],
  ["berlin", "berlinBlock"],
  ["istanbul", "istanbulBlock"],
  ["petersburg", "petersburgBlock"],
  ["constantinople", "constantinopleBlock"],
  ["byzantium", "byzantiumBlock"],
  ["spuriousDragon", "eip158Block"],
  ["tangerineWhistle", "eip150Block"],
  ["homestead", "homesteadBlock"],
] as const satisfies readonly (readonly [Hardfork, BlockForkField])[];

export function hardforkAt(config: ChainConfig, point: ForkPoint): Hardfork {
  // Only a call that overrides its block's number is after the merge and before London: there the block numbers decide, as in geth.
  if (isPostMerge(config, point) && (config.londonBlock ?? 0) <= point.number) {
    for (const [hardfork, field] of TIME_FORKS) {
      if (isTimeForkActive(config, field, point.timestamp)) return hardfork;
    }
    return "paris";
  }
  for (const [hardfork, field] of BLOCK_FORKS) {
    if (!isBlockForkActive(config, field, point.number)) continue;
    // A config without Petersburg means that it came together with Constantinople, as geth reads it.
    const together = hardfork === "constantinople" && config.petersburgBlock === undefined;
    return together ? "petersburg" : hardfork;
  }
  return "frontier";
}

/**
 * True when `point` is a block of proof of stake. A terminal total difficulty of 0 makes it so from genesis on; else
 * a block after genesis with difficulty 0 is (EIP-3675 sets it), because no proof-of-work block can have that.
 */
export function isPostMerge(config: ChainConfig, { number, difficulty }: ForkPoint): boolean {
  if (config.terminalTotalDifficulty === 0n) return true;
  return number > 0 && difficulty === 0n;
}

/**
 * True when a block that is yet to be made at that number and time belongs to proof of stake: its difficulty, which
 * `isPostMerge` looks at, is not known then.
 */
export function isMergePlannedAt(config: ChainConfig, number: number, timestamp: number): boolean {
  return (
    config.terminalTotalDifficulty === 0n ||
    isBlockForkActive(config, "mergeNetsplitBlock", number) ||
    isTimeForkActive(config, "shanghaiTime", timestamp)
  );
}

export function isTimeForkActive(config: ChainConfig, field: TimeForkField, timestamp: number): boolean {
  const time = config[field];
  return time !== undefined && time <= timestamp;
}

export function isBlockForkActive(config: ChainConfig, field: BlockForkField, number: number): boolean {
  const block = config[field];
  return block !== undefined && block <= number;
}
