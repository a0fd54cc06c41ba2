import type { ChainConfig } from "../../base/params/chain-config.ts";
import { AMSTERDAM_GAS_LIMIT_MIN } from "../../base/params/gas.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { type Agreement, type CastParameterVote, isForkName, type Parameter } from "../../chain/agreement/agreement.ts";
import { EPOCH_BLOCKS, VOTES_PER_SIGNER_MAX } from "./snapshot.ts";

/** What validators can agree on besides forks. `isClearable`: the value 0 ends the agreement, and each node has its own again. */
type ParameterRule = {
  readonly least: bigint;
  readonly most: bigint;
  readonly isClearable: boolean;
  readonly unit: string;
};

const GWEI = 1_000_000_000n;

/** Part of the chain's rules, like the rest of this file: a change of a bound splits a network. */
const PARAMETERS: Readonly<Record<string, ParameterRule>> = {
  /** A transfer has to fit; the upper bound is that of an integer in JSON. */
  gasLimit: { least: 21_000n, most: 2n ** 53n - 1n, isClearable: true, unit: "gas" },
  /** 0 is a value: tips of 0 are accepted by every node. Values above the bound are typing errors, which no one could pay. */
  minimumTip: { least: 0n, most: 1_000_000n * GWEI, isClearable: false, unit: "wei per gas" },
  /** The fastest pace that CometBFT holds, and the slowest that `consensus.block-time` takes. */
  blockPeriodMs: { least: 50n, most: 600_000n, isClearable: true, unit: "ms" },
  /** An hour, in which evidence reaches a block; a month of CometBFT's blocks, which every node stores as long. */
  evidenceAgeSeconds: { least: 3_600n, most: 2_592_000n, isClearable: true, unit: "s" },
};

/**
 * A fork is agreed on at least so long before it begins: every node has the deciding block by then, and an operator whose program does not know
 * the fork sees the line in the log.
 */
export const FORK_NOTICE_SECONDS = 30;

/** Timestamps are integers of JSON. */
const FORK_TIME_MAX = 2n ** 53n - 1n;

/** Forks and parameters that an agreement may hold: far more than there will be, and a bound of the record. */
const VALUES_MAX = 64;

type VotedBlock = {
  /** Unix seconds */
  readonly timestamp: number;
  /** The rules of the chain: the forks that have begun are those of every node that executes the block. */
  readonly config: ChainConfig;
};

/** What a vote is counted with. */
type Counting = VotedBlock & {
  /** The validators after the block's vote about them. */
  readonly signers: readonly { readonly address: Address }[];
  readonly startingSetHash: Hash;
};

/** True for what this program can count. Forks are counted whether it knows them or not: it stops before one that it does not know. */
export function isKnownParameter(name: string): boolean {
  return isForkName(name) || name in PARAMETERS;
}

/**
 * Why no vote for it counts in a block; undefined where it does. Of forks that have not begun the answer depends on what was agreed alone, not on
 * this program's list of forks.
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

/** The gas limit bounds the access list of each block from Amsterdam on (EIP-7928), also of those without transactions. */
function whyNoRoom(values: readonly Parameter[], { name, value }: Parameter): string | undefined {
  const gasLimit = values.find((agreed) => agreed.name === "gasLimit")?.value;
  if (name !== "amsterdamTime" || value === 0n || gasLimit === undefined) return undefined;
  return whyLowGasLimit(gasLimit);
}

/** Why no block of Amsterdam can have that gas limit; undefined where it can. */
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
 * What is agreed after a vote: one vote for each validator and name, the newest; more than half of the validators for one value decide. Votes of
 * others, and for what cannot be agreed on, are not counted.
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

/** A fork that was taken back stays in the list, with time 0: it has its place there, and the time of a genesis file does not come back. */
function withValue(values: readonly Parameter[], { name, value }: Parameter): readonly Parameter[] {
  if (value === 0n && PARAMETERS[name]?.isClearable) return values.filter((agreed) => agreed.name !== name);
  if (!values.some((agreed) => agreed.name === name)) return [...values, { name, value }];
  return values.map((agreed) => (agreed.name === name ? { name, value } : agreed));
}
