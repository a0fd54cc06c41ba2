import type { ChainConfig } from "./chain-config.ts";

/** All known sets of execution rules, oldest first. Blob parameter forks (EIP-7892) change no rule and are missing. */
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

/** `RULES_AT[fork].since` is true if `fork` includes the rules of `since`. A table, since a block of one transfer asks some sixty times. */
export const RULES_AT = Object.fromEntries(
  HARDFORKS.map((fork, index) => [fork, Object.fromEntries(HARDFORKS.map((since, first) => [since, first <= index]))]),
) as Readonly<Record<Hardfork, Readonly<Record<Hardfork, boolean>>>>;

/** The header fields that determine its rules. */
export type ForkPoint = {
  readonly number: number;
  readonly timestamp: number;
  readonly difficulty: bigint;
};

export type BlockForkField = Extract<keyof ChainConfig, `${string}Block`>;
export type TimeForkField = Extract<keyof ChainConfig, `${string}Time`>;

type Fork = {
  /** Its field in genesis files. */
  readonly field: BlockForkField | TimeForkField;
  /** Its rules; absent for forks that only delay the difficulty bomb or set blob limits. */
  readonly hardfork?: Hardfork;
  readonly isOptional?: true;
};

/**
 * All forks, in their required order. Optional ones may be left out although a later one is set: the DAO fork and delays of the difficulty bomb
 * concern only some chains, Petersburg comes with Constantinople if absent, and blob parameter forks (EIP-7892) follow the chain's schedule.
 */
export const FORKS: readonly Fork[] = [
  { field: "homesteadBlock", hardfork: "homestead" },
  { field: "daoForkBlock", isOptional: true },
  { field: "eip150Block", hardfork: "tangerineWhistle" },
  { field: "eip155Block" },
  { field: "eip158Block", hardfork: "spuriousDragon" },
  { field: "byzantiumBlock", hardfork: "byzantium" },
  { field: "constantinopleBlock", hardfork: "constantinople" },
  { field: "petersburgBlock", hardfork: "petersburg", isOptional: true },
  { field: "istanbulBlock", hardfork: "istanbul" },
  { field: "muirGlacierBlock", isOptional: true },
  { field: "berlinBlock", hardfork: "berlin" },
  { field: "londonBlock", hardfork: "london" },
  { field: "arrowGlacierBlock", isOptional: true },
  { field: "grayGlacierBlock", isOptional: true },
  { field: "mergeNetsplitBlock", isOptional: true },
  { field: "shanghaiTime", hardfork: "shanghai" },
  { field: "cancunTime", hardfork: "cancun", isOptional: true },
  { field: "pragueTime", hardfork: "prague", isOptional: true },
  { field: "osakaTime", hardfork: "osaka", isOptional: true },
  { field: "bpo1Time", isOptional: true },
  { field: "bpo2Time", isOptional: true },
  { field: "amsterdamTime", hardfork: "amsterdam", isOptional: true },
  { field: "bpo3Time", isOptional: true },
  { field: "bpo4Time", isOptional: true },
  { field: "bpo5Time", isOptional: true },
];

const isByBlock = ({ field }: Fork) => field.endsWith("Block");
export const BLOCK_FORK_FIELDS: readonly BlockForkField[] = FORKS.filter(isByBlock).map(
  ({ field }) => field as BlockForkField,
);
export const TIME_FORK_FIELDS: readonly TimeForkField[] = FORKS.filter((fork) => !isByBlock(fork)).map(
  ({ field }) => field as TimeForkField,
);

type Rules<Field> = { readonly field: Field; readonly hardfork: Hardfork };

/** Forks that change rules, newest first. */
const RULE_CHANGES = FORKS.filter(({ hardfork }) => hardfork !== undefined).reverse();
const RULES_BY_TIME = RULE_CHANGES.filter((fork) => !isByBlock(fork)) as readonly Rules<TimeForkField>[];
const RULES_BY_BLOCK = RULE_CHANGES.filter(isByBlock) as readonly Rules<BlockForkField>[];

/** The genesis file field of `hardfork`; undefined for hardforks that begin at a block. */
export function timeFieldOf(hardfork: Hardfork): TimeForkField | undefined {
  return RULES_BY_TIME.find((fork) => fork.hardfork === hardfork)?.field;
}

export function hardforkAt(config: ChainConfig, point: ForkPoint): Hardfork {
  // Only a call that overrides its block's number can be both post-merge and pre-London: then block numbers decide, as in geth.
  if (isPostMerge(config, point) && (config.londonBlock ?? 0) <= point.number) {
    for (const { hardfork, field } of RULES_BY_TIME) {
      const time = config[field];
      if (time !== undefined && time <= point.timestamp) return hardfork;
    }
    return "paris";
  }
  for (const { hardfork, field } of RULES_BY_BLOCK) {
    if (!isBlockForkActive(config, field, point.number)) continue;
    // A config without Petersburg activates it together with Constantinople, as in geth.
    const together = hardfork === "constantinople" && config.petersburgBlock === undefined;
    return together ? "petersburg" : hardfork;
  }
  return "frontier";
}

/**
 * Whether `point` is a proof-of-stake block. With a terminal total difficulty of 0 all blocks are; otherwise blocks after genesis with
 * difficulty 0 are (EIP-3675), because proof of work cannot have that.
 */
export function isPostMerge(config: ChainConfig, { number, difficulty }: ForkPoint): boolean {
  if (config.terminalTotalDifficulty === 0n) return true;
  return number > 0 && difficulty === 0n;
}

/** Whether a future block at that number and time belongs to proof of stake: its difficulty, which `isPostMerge` needs, is unknown. */
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
