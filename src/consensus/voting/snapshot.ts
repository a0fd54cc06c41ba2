import type { Address } from "../../base/primitives/address.ts";

/** A member of the validator set. */
export type Signer = {
  readonly address: Address;
  /** Compressed, 33 bytes; empty where it is unknown, which only the solo engine allows. */
  readonly publicKey: Uint8Array;
};

/** What a proposer votes for: that `candidate` becomes a validator, or that it is one no longer. */
export type Vote = {
  readonly candidate: Address;
  readonly authorize: boolean;
  /** Compressed key of a candidate that is to be added, 33 bytes; empty in a vote to drop one. */
  readonly publicKey: Uint8Array;
};

/** A vote that counts, with its author and the block it is in. */
export type CastVote = Vote & { readonly signer: Address; readonly block: number };

/** The validators after some block and the votes about others (EIP-225). */
export type Snapshot = {
  /** ascending */
  readonly signers: readonly Signer[];
  /** In the order in which they were cast; all of one epoch. */
  readonly votes: readonly CastVote[];
  /** Validators that were removed for an offence, with the block of their last offence, newest last; absent if none. */
  readonly jailed?: readonly Jailed[];
};

export type Jailed = { readonly address: Address; readonly block: number };

type Tally = { readonly authorize: boolean; readonly votes: number };

/** Votes are void from each block whose number is a multiple of it, as in EIP-225. Part of the chain's rules: equal on every node. */
export const EPOCH_BLOCKS = 30_000;

/**
 * Most validators: with more, the signatures of a block take longer than it does. Part of the chain's rules, like the number of votes
 * that one validator may have pending, which bounds the size of a snapshot.
 */
export const SIGNERS_MAX = 100;
export const VOTES_PER_SIGNER_MAX = 16;

/**
 * True if a vote on `candidate` would change something: it adds an address that is not a validator, or drops a validator that is not the
 * last.
 */
export function isMeaningful(
  { signers }: Snapshot,
  { candidate, authorize }: Pick<Vote, "candidate" | "authorize">,
): boolean {
  const isSigner = signers.some(({ address }) => address === candidate);
  return authorize ? !isSigner && signers.length < SIGNERS_MAX : isSigner && signers.length > 1;
}

/** `snapshot` without the votes that are void at `block`. */
export function atBlock(snapshot: Snapshot, block: number, epoch = EPOCH_BLOCKS): Snapshot {
  const first = block - (block % epoch);
  const votes = snapshot.votes.filter((vote) => vote.block >= first);
  return votes.length === snapshot.votes.length ? snapshot : { ...snapshot, votes };
}

/**
 * `snapshot` after a vote in block `block`, by the rules of EIP-225: one vote for each signer and candidate, the newest; more than half
 * of the signers decide. Votes of others than signers, and votes that would change nothing, are not counted.
 */
export function countVote(snapshot: Snapshot, { signer, block, ...vote }: CastVote, epoch = EPOCH_BLOCKS): Snapshot {
  const current = atBlock(snapshot, block, epoch);
  const { signers } = current;
  if (!signers.some(({ address }) => address === signer)) return current;
  const others = current.votes.filter((cast) => cast.signer !== signer || cast.candidate !== vote.candidate);
  const own = others.filter((cast) => cast.signer === signer).length;
  if (!isMeaningful(current, vote) || own >= VOTES_PER_SIGNER_MAX) {
    return { ...current, votes: others };
  }
  const votes = [...others, { ...vote, signer, block }];
  const count = votes.filter(({ candidate }) => candidate === vote.candidate).length;
  if (count * 2 <= signers.length) return { ...current, votes };
  return { ...current, ...decide(signers, votes, vote) };
}

/** The votes about `candidate` have a majority: the set changes, and they are spent, as are those of a signer that is dropped. */
function decide(
  signers: readonly Signer[],
  votes: readonly CastVote[],
  { candidate, authorize, publicKey }: Vote,
): Snapshot {
  const isLeft = (cast: CastVote) => cast.candidate !== candidate && (authorize || cast.signer !== candidate);
  return {
    signers: authorize
      ? sorted([...signers, { address: candidate, publicKey }])
      : signers.filter(({ address }) => address !== candidate),
    votes: votes.filter(isLeft),
  };
}

/** The votes about each candidate: all have the direction that would change something. */
export function tallyOf({ votes }: Snapshot): ReadonlyMap<Address, Tally> {
  const tally = new Map<Address, Tally>();
  for (const { candidate, authorize } of votes) {
    tally.set(candidate, { authorize, votes: (tally.get(candidate)?.votes ?? 0) + 1 });
  }
  return tally;
}

export function sorted(signers: readonly Signer[]): readonly Signer[] {
  return [...signers].sort((a, b) => (a.address < b.address ? -1 : 1));
}
