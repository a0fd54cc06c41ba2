import type { Address } from "../../base/primitives/address.ts";

/** A member of the validator set. */
export type Signer = {
  readonly address: Address;
  /** Compressed, 33 bytes; empty if unknown, which only the solo engine allows. */
  readonly publicKey: Uint8Array;
};

/** A proposer's vote to add or remove the validator `candidate`. */
export type Vote = {
  readonly candidate: Address;
  readonly authorize: boolean;
  /** Compressed key of a candidate to add, 33 bytes; empty in a vote to remove one. */
  readonly publicKey: Uint8Array;
};

/** A vote that counts, with its author and block. */
export type CastVote = Vote & { readonly signer: Address; readonly block: number };

/** The validators after some block and the votes about others (EIP-225). */
export type Snapshot = {
  /** ascending */
  readonly signers: readonly Signer[];
  /** In the order in which they were cast; all of one epoch. */
  readonly votes: readonly CastVote[];
  /** Validators removed for an offence, with the block of their last offence, newest last; absent if none. */
  readonly jailed?: readonly Jailed[];
};

export type Jailed = { readonly address: Address; readonly block: number };

type Tally = { readonly authorize: boolean; readonly votes: number };

/** Votes become void at each block whose number is a multiple of it, as in EIP-225. Part of the chain's rules: equal on every node. */
export const EPOCH_BLOCKS = 30_000;

/**
 * Maximum number of validators: with more, the signatures of a block take longer than the block. Part of the chain's rules, like the number of
 * pending votes per validator, which bounds the size of a snapshot.
 */
export const SIGNERS_MAX = 100;
export const VOTES_PER_SIGNER_MAX = 16;

/** Whether a vote on `candidate` would change something: it adds a non-validator, or removes a validator that is not the last. */
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
 * `snapshot` after a vote in block `block`, by the rules of EIP-225: the newest vote of each signer on a candidate counts, and more than half of
 * the signers decide. Votes of non-signers, and votes without effect, are ignored.
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

/** The votes about `candidate` have a majority: the set changes. These votes, and those of a removed signer, are spent. */
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

/** The votes about each candidate; all have the only effective direction. */
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
