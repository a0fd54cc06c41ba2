import { NodeError } from "../../../base/errors.ts";
import { isJsonObject } from "../../../base/primitives/shape.ts";
import type { ConsensusStep } from "../../engine.ts";

/** CometBFT's RPC does not answer, or returns an error or an undocumented answer. */
export class EngineRpcError extends NodeError {
  readonly code = "ENGINE_RPC";
}

/** A connected peer as CometBFT reports it. Its own claims are unverified. */
export type EnginePeer = {
  /** 40 hex digits */
  readonly id: string;
  readonly moniker: string;
  readonly version: string;
  readonly network: string;
  readonly listenAddress: string;
  readonly remoteIp: string;
  readonly isOutbound: boolean;
  readonly connectedForNanos: bigint;
};

export type EngineStatus = {
  readonly nodeId: string;
  readonly moniker: string;
  readonly network: string;
  readonly listenAddress: string;
  readonly isCatchingUp: boolean;
  /** Height of the first block in its store; 0 while it is empty. */
  readonly earliestHeight: number;
  readonly latestHeight: number;
  /** CometBFT's hash of the newest block, 64 upper-case hex digits. */
  readonly latestHash: string;
  /** 40 upper-case hex digits */
  readonly validatorAddress: string;
  readonly votingPower: number;
};

/** Progress of the next block. */
export type EngineRound = {
  readonly step: ConsensusStep;
  /** Voting power whose prevotes or precommits of this or a later round were received; CometBFT has verified their signatures. */
  readonly votedPower: number;
  readonly totalPower: number;
  /**
   * Unix milliseconds: more than two thirds of the validators voted at this height then or later, by their own clocks. undefined: too few have
   * voted.
   */
  readonly votedAtMs: number | undefined;
  /** All received votes of this height. */
  readonly votes: readonly EngineVote[];
};

/** A vote whose signature CometBFT has verified. */
export type EngineVote = {
  /** The first six bytes of the validator's address: 12 lower-case hex digits. */
  readonly voter: string;
  readonly height: number;
  readonly round: number;
  readonly kind: "prevote" | "precommit";
  /** Unix milliseconds, by the voter's clock. */
  readonly atMs: number;
};

export function statusOf(answer: unknown): EngineStatus {
  const { node_info, sync_info, validator_info } = objectOf(answer);
  const [node, sync, validator] = [node_info, sync_info, validator_info].map(objectOf) as [Members, Members, Members];
  return {
    nodeId: textOf(node["id"]),
    moniker: textOf(node["moniker"]),
    network: textOf(node["network"]),
    listenAddress: textOf(node["listen_addr"]),
    isCatchingUp: booleanOf(sync["catching_up"]),
    earliestHeight: countOf(sync["earliest_block_height"]),
    latestHeight: countOf(sync["latest_block_height"]),
    latestHash: textOf(sync["latest_block_hash"]),
    validatorAddress: textOf(validator["address"]),
    votingPower: countOf(validator["voting_power"]),
  };
}

export function peersOf(answer: unknown): readonly EnginePeer[] {
  return arrayOf(objectOf(answer)["peers"]).map((each) => {
    const peer = objectOf(each);
    const node = objectOf(peer["node_info"]);
    const { Duration } = objectOf(peer["connection_status"]);
    return {
      id: textOf(node["id"]),
      moniker: textOf(node["moniker"]),
      version: textOf(node["version"]),
      network: textOf(node["network"]),
      listenAddress: textOf(node["listen_addr"]),
      remoteIp: textOf(peer["remote_ip"]),
      isOutbound: booleanOf(peer["is_outbound"]),
      connectedForNanos: int64Of(Duration),
    };
  });
}

export function roundOf(answer: unknown): EngineRound {
  const state = objectOf(objectOf(answer)["round_state"]);
  const step = /^(\d{1,15})\/(\d{1,10})\/(\d{1,2})$/.exec(textOf(state["height/round/step"]));
  if (step === null) throw malformed();
  const [height, round, number] = step.slice(1).map(Number) as [number, number, number];
  const rounds = arrayOf(state["height_vote_set"]);
  const tallies = rounds.flatMap((each) => {
    const { round: of, prevotes_bit_array, precommits_bit_array } = objectOf(each);
    if (typeof of !== "number") throw malformed();
    return of < round ? [] : [tallyOf(prevotes_bit_array), tallyOf(precommits_bit_array)];
  });
  const votes = rounds.flatMap((each) => {
    const { prevotes, precommits } = objectOf(each);
    return [...arrayOf(prevotes), ...arrayOf(precommits)].flatMap(voteOf);
  });
  return {
    step: { height, round, step: number },
    votedPower: Math.max(0, ...tallies.map(({ voted }) => voted)),
    totalPower: Math.max(0, ...tallies.map(({ total }) => total)),
    votedAtMs: votedAtMs(votes, tallies[0]?.validators ?? 0),
    votes,
  };
}

/** Validators have equal power (`VALIDATOR_POWER`). */
function votedAtMs(votes: readonly EngineVote[], validators: number): number | undefined {
  const newest = new Map<string, number>();
  for (const { voter, atMs } of votes) newest.set(voter, Math.max(atMs, newest.get(voter) ?? atMs));
  return [...newest.values()].sort((a, b) => b - a)[Math.floor((2 * validators) / 3)];
}

/** types/vote.go `String`, without its hashes; also a validator that has not voted. */
const VOTE =
  /^Vote\{\d{1,6}:([0-9A-F]{12}) (\d{1,15})\/(\d{2,10})\/SIGNED_MSG_TYPE_(?:PREVOTE|PRECOMMIT)\((Prevote|Precommit)\) [^@]{1,100} @ (\S{1,40})\}$/;
const NO_VOTE = "nil-Vote";

function voteOf(value: unknown): readonly EngineVote[] {
  const text = textOf(value);
  if (text === NO_VOTE) return [];
  const [, voter, height, round, kind, time] = VOTE.exec(text) ?? [];
  const atMs = Date.parse(time ?? "");
  if (voter === undefined || Number.isNaN(atMs)) throw malformed();
  return [
    {
      voter: voter.toLowerCase(),
      height: Number(height),
      round: Number(round),
      kind: kind === "Prevote" ? "prevote" : "precommit",
      atMs,
    },
  ];
}

/** Height of the newest block in the store, from the answer to `blockchain`. */
export function storeHeightOf(answer: unknown): number {
  return countOf(objectOf(answer)["last_height"]);
}

/**
 * Height of the first block in the store, from the error of `blockchain` for a missing block 1 (rpc/core/blocks.go `filterMinMax` of
 * CometBFT v0.40); undefined for another error.
 */
export function storeBaseOf(error: string): number | undefined {
  const base = /min height (\d{1,15}) can't be greater than max height 1$/.exec(error)?.[1];
  return base === undefined ? undefined : countOf(base);
}

/** The votes of one kind in one round, such as `BA{4:xx_x} 30/40 = 0.75`: the last two numbers are voting power. */
function tallyOf(value: unknown): { readonly validators: number; readonly voted: number; readonly total: number } {
  const tally = /^BA\{(\d{1,6}):[x_]*\} (\d{1,19})\/(\d{1,19}) = [\d.]{1,20}$/.exec(textOf(value));
  if (tally === null) throw malformed();
  return { validators: Number(tally[1]), voted: countOf(tally[2]), total: countOf(tally[3]) };
}

export type Members = Readonly<Record<string, unknown>>;

/** @throws EngineRpcError */
export function objectOf(value: unknown): Members {
  if (!isJsonObject(value)) throw malformed();
  return value;
}

export function arrayOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed();
  return value;
}

export function textOf(value: unknown): string {
  if (typeof value !== "string") throw malformed();
  return value;
}

function booleanOf(value: unknown): boolean {
  if (typeof value !== "boolean") throw malformed();
  return value;
}

/** 64-bit integers are decimal strings. */
function int64Of(value: unknown): bigint {
  const text = textOf(value);
  if (!/^-?\d{1,19}$/.test(text)) throw malformed();
  return BigInt(text);
}

/** A height or a power, both far below 2^53. */
export function countOf(value: unknown): number {
  const count = Number(int64Of(value));
  if (!Number.isSafeInteger(count) || count < 0) throw malformed();
  return count;
}

export function malformed(): EngineRpcError {
  return new EngineRpcError("CometBFT's answer differs from v0.40's");
}
