import { invariant } from "../errors.ts";
import { type Address, addressFromBytes, addressToBytes } from "../primitives/address.ts";
import { bigintToBytes, bytesToBigint } from "../primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes, ZERO_HASH } from "../primitives/hash.ts";
import { decodeRlp, encodeRlp, type RlpItem } from "../primitives/rlp.ts";
import type { Vote } from "./clique/snapshot.ts";
import { type StartingSet, startingSetItem, startingSetOfItem } from "./clique/starting-set.ts";
import { voteItem, voteOfItem } from "./clique/vote-codec.ts";

/**
 * Stored with a block besides its Ethereum form: RLP([consensusHash, proposer, nanos, parentRound, vote]), where a vote is [] or
 * [vote, startingSet]. Blocks written before there were votes have the first three fields. Genesis has none, nor have imported blocks
 * without a vote; they count as hash 0.
 */
export type ConsensusData = {
  readonly consensusHash: Hash;
  readonly proposer: Address;
  /** Nanoseconds of the block's time beyond its timestamp. */
  readonly nanos: number;
  /** The round in which the parent was committed; 0 when the proposer whose turn it was made it. */
  readonly parentRound: number;
  /** A vote about the validator set, with what it takes to count it again. */
  readonly cast?: CastInBlock;
};

export type CastInBlock = { readonly vote: Vote; readonly startingSet: StartingSet };

export function encodeConsensusData(data: ConsensusData): Uint8Array {
  const { cast } = data;
  return encodeRlp([
    hashToBytes(data.consensusHash),
    addressToBytes(data.proposer),
    bigintToBytes(BigInt(data.nanos)),
    bigintToBytes(BigInt(data.parentRound)),
    cast ? [voteItem(cast.vote), startingSetItem(cast.startingSet)] : [],
  ]);
}

/** The engine's hash of a block, from its stored consensus data. */
export function consensusHashOf(bytes: Uint8Array): Hash {
  return decodeConsensusData(bytes)?.consensusHash ?? ZERO_HASH;
}

/** undefined for a block that has none. @throws InvariantError, InvalidRlpError for other bytes */
export function decodeConsensusData(bytes: Uint8Array): ConsensusData | undefined {
  if (bytes.length === 0) return undefined;
  const item = decodeRlp(bytes);
  invariant(!(item instanceof Uint8Array), "consensus data is a list");
  const [hash, proposer, nanos, round, castItem] = item;
  invariant(hash instanceof Uint8Array && hash.length === 32, "consensus data has a hash");
  invariant(proposer instanceof Uint8Array && proposer.length === 20, "and a proposer");
  invariant(nanos instanceof Uint8Array, "and nanoseconds");
  invariant(round === undefined || round instanceof Uint8Array, "and the parent's round");
  return {
    consensusHash: hashFromBytes(hash),
    proposer: addressFromBytes(proposer),
    nanos: Number(bytesToBigint(nanos)),
    parentRound: round === undefined ? 0 : Number(bytesToBigint(round)),
    ...castOf(castItem),
  };
}

function castOf(item: RlpItem | undefined): Pick<ConsensusData, "cast"> {
  if (item === undefined || item.length === 0) return {};
  const [voteField, startingSet] = item as readonly RlpItem[];
  const vote = voteField && voteOfItem(voteField);
  invariant(vote && startingSet, "a stored vote decodes");
  return { cast: { vote, startingSet: startingSetOfItem(startingSet) } };
}
