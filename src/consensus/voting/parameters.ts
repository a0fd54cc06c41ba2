import type { ChainConfig } from "../../base/params/chain-config.ts";
import { AMSTERDAM_GAS_LIMIT_MIN } from "../../base/params/gas.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { type Agreement, type CastParameterVote, isForkName, type Parameter } from "../../chain/agreement/agreement.ts";
import { EPOCH_BLOCKS, VOTES_PER_SIGNER_MAX } from "./snapshot.ts";

/**
 * A rule that validators can agree on besides forks. `isClearable`: the value 0 ends the agreement, so that each node's own setting applies
 * again.
 */
type ParameterRule = {
  readonly least: bigint;
  readonly most: bigint;
  readonly isClearable: boolean;
  readonly unit: string;
};

const GWEI = 1_000_000_000n;

/** Part of the chain's rules, like the rest of this file: changing a bound splits a network. */
const PARAMETERS: Readonly<Record<string, ParameterRule>> = {
  /** A transfer must fit; the upper bound is JSON's for integers. */
  gasLimit: { least: 21_000n, most: 2n ** 53n - 1n, isClearable: true, unit: "gas" },
  /** 0 is a valid value: every node accepts tips of 0. Values above the bound are typos that no one could pay. */
  minimumTip: { least: 0n, most: 1_000_000n * GWEI, isClearable: false, unit: "wei per gas" },
  /** From CometBFT's fastest pace to the slowest of `consensus.block-time`. */
  blockPeriodMs: { least: 50n, most: 600_000n, isClearable: true, unit: "ms" },
  /** From an hour, in which evidence reaches a block, to a month, for which every node must store CometBFT's blocks. */
  evidenceAgeSeconds: { least: 3_600n, most: 2_592_000n, isClearable: true, unit: "s" },
};

/**
 * Minimum time between the agreement on a fork and its beginning: every node has the deciding block by then, and an operator whose program does
 * not know the fork sees the log line.
 */
export const FORK_NOTICE_SECONDS = 30;

/** Timestamps are JSON integers. */
const FORK_TIME_MAX = 2n ** 53n - 1n;

/** Maximum forks and parameters of an agreement: far more than will exist, and a bound of the record. */
const VALUES_MAX = 64;

type VotedBlock = {
  /** Unix seconds */
  readonly timestamp: number;
  /** The rules of the chain: every node that executes the block has the same begun forks. */
  readonly config: ChainConfig;
};

/** The inputs for counting a vote. */
type Counting = VotedBlock & {
  /** The validators after the block's vote about them. */
  readonly signers: readonly { readonly address: Address }[];
  readonly startingSetHash: Hash;
};

/** Whether this program can count votes for it. It counts votes for unknown forks, and stops before they begin. */
export function isKnownParameter(name: string): boolean {
  return isForkName(name) || name in PARAMETERS;
}

/**
 * Why a vote for it does not count in a block; undefined if it does. For forks that have not begun, the answer depends only on earlier
 * agreements, not on this program's list of forks.
 */
export function whyRefused(
  { values }: Pick<Agreement, "values">,
  parameter: Parameter,
  block: VotedBlock,
): string | undefined {
  const { name, value } = parameter;
  const current = values.find((agreed) => agreed.name === name)?.value;
  if (value === current) return "it already has this value";
  if (current === undefined && values.length >= VALUES_MAX) return "too many agreed values";
  if (isForkName(name)) return whyNoFork(values, parameter, block) ?? whyNoRoom(values, parameter);
  if (value === 0n && current === undefined && PARAMETERS[name]?.isClearable) return "no value is agreed";
  const hasLists = name === "gasLimit" && hasAmsterdam(values, block.config);
  return whyOutOfBounds(name, value, hasLists ? AMSTERDAM_GAS_LIMIT_MIN : undefined);
}

function hasAmsterdam(values: readonly Parameter[], { amsterdamTime }: ChainConfig): boolean {
  const agreed = values.find(({ name }) => name === "amsterdamTime");
  return agreed === undefined ? amsterdamTime !== undefined : agreed.value !== 0n;
}

/** The gas limit bounds the access list of each block from Amsterdam on (EIP-7928), even without transactions. */
function whyNoRoom(values: readonly Parameter[], { name, value }: Parameter): string | undefined {
  const gasLimit = values.find((agreed) => agreed.name === "gasLimit")?.value;
  if (name !== "amsterdamTime" || value === 0n || gasLimit === undefined) return undefined;
  return whyLowGasLimit(gasLimit);
}

/** Why Amsterdam blocks cannot have this gas limit; undefined if they can. */
export function whyLowGasLimit(gasLimit: bigint): string | undefined {
  if (gasLimit >= AMSTERDAM_GAS_LIMIT_MIN) return undefined;
  return `the gas limit is ${gasLimit}, but Amsterdam blocks need ${AMSTERDAM_GAS_LIMIT_MIN} for their access lists: vote on gasLimit first`;
}

function whyNoFork(
  values: readonly Parameter[],
  { name, value }: Parameter,
  { timestamp, config }: VotedBlock,
): string | undefined {
  const earliest = BigInt(timestamp + FORK_NOTICE_SECONDS);
  const began = (config as Readonly<Record<string, unknown>>)[name];
  if (typeof began === "number" && began <= timestamp) return `it began at ${began}`;
  const current = values.find((agreed) => agreed.name === name)?.value ?? 0n;
  if (current !== 0n && current < earliest) return "it begins too soon to be changed";
  if (value === 0n) return undefined;
  if (value > FORK_TIME_MAX) return "that time is out of range";
  if (value < earliest) return `a fork must begin at least ${FORK_NOTICE_SECONDS} s after the block that decides it`;
  const forks = values.filter((agreed) => isForkName(agreed.name));
  const at = forks.findIndex((agreed) => agreed.name === name);
  const isScheduled = (fork: Parameter) => fork.value !== 0n;
  const before = forks.slice(0, at === -1 ? undefined : at).findLast(isScheduled);
  const after = at === -1 ? undefined : forks.slice(at + 1).find(isScheduled);
  if (before && value < before.value) return `${before.name} comes before it, at ${before.value}`;
  if (after && value > after.value) return `${after.name} comes after it, at ${after.value}`;
  return undefined;
}

function whyOutOfBounds(name: string, value: bigint, higherLeast?: bigint): string | undefined {
  const rule = PARAMETERS[name];
  if (rule === undefined) return "unknown parameter";
  if (value === 0n && rule.isClearable) return undefined;
  const least = higherLeast ?? rule.least;
  if (value >= least && value <= rule.most) return undefined;
  return `it is from ${least} to ${rule.most} ${rule.unit}${rule.isClearable ? ", or 0 for none" : ""}`;
}

/** The votes that still count at block `number`: of this epoch, of validators, from the same starting set. */
export function openVotes(
  agreement: Agreement,
  number: number,
  { signers, startingSetHash }: Pick<Counting, "signers" | "startingSetHash">,
): readonly CastParameterVote[] {
  if (agreement.startingSetHash !== startingSetHash) return [];
  const first = number - (number % EPOCH_BLOCKS);
  return agreement.votes.filter(
    ({ signer, block }) => block >= first && signers.some(({ address }) => address === signer),
  );
}

/**
 * The agreement after a vote: the newest vote of each validator on a name counts, and more than half of the validators decide a value. Votes of
 * others, and on unknown rules, do not count.
 */
export function countParameterVote(before: Agreement, cast: CastParameterVote, counting: Counting): Agreement {
  const { signers, startingSetHash } = counting;
  const { signer, block, name, value } = cast;
  const open = openVotes(before, block, counting);
  const current = { ...before, startingSetHash, votes: open };
  if (!signers.some(({ address }) => address === signer)) return current;
  const others = open.filter((vote) => vote.signer !== signer || vote.name !== name);
  const own = others.filter((vote) => vote.signer === signer).length;
  if (whyRefused(before, cast, counting) !== undefined || own >= VOTES_PER_SIGNER_MAX) {
    return { ...current, votes: others };
  }
  const votes = [...others, cast];
  const count = votes.filter((vote) => vote.name === name && vote.value === value).length;
  if (count * 2 <= signers.length) return { ...current, votes };
  return {
    ...current,
    values: withValue(before.values, { name, value }),
    votes: votes.filter((vote) => vote.name !== name),
  };
}

/** A withdrawn fork stays in the list with time 0: it keeps its place, and the time in the genesis file does not apply again. */
function withValue(values: readonly Parameter[], { name, value }: Parameter): readonly Parameter[] {
  if (value === 0n && PARAMETERS[name]?.isClearable) return values.filter((agreed) => agreed.name !== name);
  if (!values.some((agreed) => agreed.name === name)) return [...values, { name, value }];
  return values.map((agreed) => (agreed.name === name ? { name, value } : agreed));
}
