import { BLOCK_ID_FLAG } from "../../../../src/consensus/cometbft/abci/messages.ts";
import type { SigningKeys } from "../signing-keys.ts";
import type { ValidatorSet } from "./validator-set.ts";
import { ABSENT, type BlockId, type Commit, isSameBlock, type Vote, type VoteType, voteText } from "./vote.ts";

/** What became of a vote. */
export type Added =
  | { readonly kind: "added" | "duplicate" }
  /** The validator voted otherwise before; `isAdded` where the vote counts for its block nevertheless. */
  | { readonly kind: "conflict"; readonly first: Vote; readonly isAdded: boolean }
  | { readonly kind: "invalid"; readonly reason: string };

type Tally = {
  readonly blockId: BlockId | undefined;
  readonly votes: Map<number, Vote>;
  power: number;
  isClaimed: boolean;
};

type VoteSetOptions = {
  readonly chainId: string;
  readonly height: number;
  readonly round: number;
  readonly type: VoteType;
  readonly validators: ValidatorSet;
  readonly keys: SigningKeys;
};

/** The votes of one type in one round. Of a validator that votes twice the first vote counts, and another only for a block that a peer claims to be decided. */
export class VoteSet {
  readonly #options: VoteSetOptions;
  /** By index of the validator. */
  readonly #votes = new Map<number, Vote>();
  readonly #tallies = new Map<string, Tally>();
  #power = 0;
  #majority: Tally | undefined;

  constructor(options: VoteSetOptions) {
    this.#options = options;
  }

  get round(): number {
    return this.#options.round;
  }

  get validators(): ValidatorSet {
    return this.#options.validators;
  }

  /** Voting power of all votes. */
  get power(): number {
    return this.#power;
  }

  get size(): number {
    return this.#votes.size;
  }

  get votes(): IterableIterator<Vote> {
    return this.#votes.values();
  }

  /** Indices of the validators whose votes are here, as bits. */
  get mask(): bigint {
    let mask = 0n;
    for (const index of this.#votes.keys()) mask |= 1n << BigInt(index);
    return mask;
  }

  has(index: number): boolean {
    return this.#votes.has(index);
  }

  /** More than two thirds voted, for whatever. */
  get hasTwoThirdsAny(): boolean {
    return this.#options.validators.isQuorum(this.#power);
  }

  /** More than two thirds voted for one block, or for none (`blockId` undefined). */
  get majority(): { readonly blockId: BlockId | undefined } | undefined {
    return this.#majority;
  }

  /** A peer says that more than two thirds voted for this block. */
  claim(blockId: BlockId | undefined): void {
    this.#tally(blockId).isClaimed = true;
  }

  add(vote: Vote): Added {
    const { chainId, height, round, type, validators, keys } = this.#options;
    const validator = validators.at(vote.index);
    if (vote.height !== height || vote.round !== round || vote.type !== type) {
      return { kind: "invalid", reason: "unexpected step" };
    }
    if (validator === undefined || validator.address !== vote.address) {
      return { kind: "invalid", reason: `cannot find validator ${vote.index}` };
    }
    const existing = this.#votes.get(vote.index);
    const tally = this.#tallies.get(keyOf(vote.blockId));
    if ((existing && isSameBlock(existing.blockId, vote.blockId)) || tally?.votes.has(vote.index)) {
      return { kind: "duplicate" };
    }
    const { publicKey } = validator;
    const isSigned = () => keys.isSignedBy(publicKey, voteText(chainId, vote), vote.signature);
    if (!keys.isVerified(vote, `${chainId}/${publicKey}`, isSigned)) {
      return { kind: "invalid", reason: "invalid signature" };
    }
    if (existing === undefined) {
      this.#votes.set(vote.index, vote);
      this.#power += validator.power;
      this.#count(vote, validator.power);
      return { kind: "added" };
    }
    if (this.#majority && isSameBlock(this.#majority.blockId, vote.blockId)) this.#votes.set(vote.index, vote);
    const isAdded = tally?.isClaimed === true;
    if (isAdded) this.#count(vote, validator.power);
    return { kind: "conflict", first: existing, isAdded };
  }

  /** The commit that these precommits are. */
  commit(): Commit {
    const { height, round, validators } = this.#options;
    const blockId = this.#majority!.blockId!;
    const signatures = validators.validators.map((_, index) => {
      const vote = this.#votes.get(index);
      if (vote === undefined || (vote.blockId && !isSameBlock(vote.blockId, blockId))) return ABSENT;
      const { address, time, signature } = vote;
      return { flag: vote.blockId ? BLOCK_ID_FLAG.commit : BLOCK_ID_FLAG.nil, address, time, signature };
    });
    return { height, round, blockId, signatures };
  }

  #count(vote: Vote, power: number): void {
    const tally = this.#tally(vote.blockId);
    tally.votes.set(vote.index, vote);
    tally.power += power;
    if (this.#majority || !this.#options.validators.isQuorum(tally.power)) return;
    this.#majority = tally;
    for (const [index, each] of tally.votes) this.#votes.set(index, each);
  }

  #tally(blockId: BlockId | undefined): Tally {
    const key = keyOf(blockId);
    let tally = this.#tallies.get(key);
    if (tally === undefined) {
      tally = { blockId, votes: new Map(), power: 0, isClaimed: false };
      this.#tallies.set(key, tally);
    }
    return tally;
  }
}

function keyOf(blockId: BlockId | undefined): string {
  return blockId === undefined ? "" : `${blockId.hash}/${blockId.parts.hash}`;
}

/** Number of rounds beyond the next one for which one peer's votes are accepted. */
const CATCHUP_ROUNDS_MAX = 2;

type RoundVotes = Readonly<Record<VoteType, VoteSet>>;

/** The votes of all rounds of a height. */
export class HeightVotes {
  readonly #options: Omit<VoteSetOptions, "round" | "type">;
  readonly #rounds = new Map<number, RoundVotes>();
  readonly #catchupRounds = new Map<string, Set<number>>();
  /** The current round; votes of the one after it are taken too. */
  #round = 0;

  constructor(options: Omit<VoteSetOptions, "round" | "type">) {
    this.#options = options;
    this.#open(0);
  }

  get rounds(): IterableIterator<[number, RoundVotes]> {
    return this.#rounds.entries();
  }

  setRound(round: number): void {
    for (let each = this.#round; each <= round + 1; each++) this.#open(each);
    this.#round = round;
  }

  /** undefined for an unknown round */
  of(type: VoteType, round: number): VoteSet | undefined {
    return this.#rounds.get(round)?.[type];
  }

  /** @param peer undefined for an own vote */
  add(vote: Vote, peer: string | undefined): Added {
    const votes = this.of(vote.type, vote.round) ?? this.#catchup(vote, peer);
    return votes?.add(vote) ?? { kind: "invalid", reason: "vote of an unwanted round" };
  }

  /** The latest round in which more than two thirds prevoted for one value; -1 if there is none. */
  get polRound(): number {
    let round = this.#round;
    while (round >= 0 && this.of("prevote", round)?.majority === undefined) round--;
    return round;
  }

  #catchup({ type, round }: Vote, peer = ""): VoteSet | undefined {
    const rounds = this.#catchupRounds.get(peer) ?? new Set();
    if (rounds.size >= CATCHUP_ROUNDS_MAX) return undefined;
    this.#catchupRounds.set(peer, rounds.add(round));
    return this.#open(round)[type];
  }

  #open(round: number): RoundVotes {
    let votes = this.#rounds.get(round);
    if (votes === undefined) {
      const of = (type: VoteType) => new VoteSet({ ...this.#options, round, type });
      votes = { prevote: of("prevote"), precommit: of("precommit") };
      this.#rounds.set(round, votes);
    }
    return votes;
  }
}
