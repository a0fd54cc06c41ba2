import { type Address, addressFromBytes, addressToBytes } from "../primitives/address.ts";
import { bigintToBytes, EMPTY_BYTES } from "../primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes, ZERO_HASH } from "../primitives/hash.ts";
import { decodeRlp, encodeRlp, type RlpItem } from "../primitives/rlp.ts";
import { MalformedBytesError } from "../storage/byte-io.ts";
import type { Vote } from "./voting/snapshot.ts";
import { type StartingSet, startingSetItem, startingSetOfItem } from "./voting/starting-set.ts";
import { integerOf, listOf, voteItem, voteOfItem } from "./voting/vote-codec.ts";

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

type CastInBlock = { readonly vote: Vote; readonly startingSet: StartingSet };

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

/**
 * undefined for a block that has none. Accepts what `encodeConsensusData` makes and the form of earlier versions, and nothing else: peers and
 * chain files hand in such bytes too.
 * @throws MalformedBytesError, InvalidRlpError
 */
export function decodeConsensusData(bytes: Uint8Array): ConsensusData | undefined {
  if (bytes.length === 0) return undefined;
  const item = listOf(decodeRlp(bytes));
  if (!FIELD_COUNTS.includes(item.length)) throw malformed("shape");
  const [hash, proposer, nanos, round = EMPTY_BYTES, cast = []] = item;
  if (!(hash instanceof Uint8Array) || hash.length !== 32) throw malformed("hash");
  if (!(proposer instanceof Uint8Array) || proposer.length !== 20) throw malformed("proposer");
  return {
    consensusHash: hashFromBytes(hash),
    proposer: addressFromBytes(proposer),
    nanos: integerOf(nanos, NANOS_MAX),
    parentRound: integerOf(round, ROUND_MAX),
    ...castOf(cast),
  };
}

/** Of earlier versions, and of this one. */
const FIELD_COUNTS: readonly number[] = [3, 5];
const NANOS_MAX = 999_999_999;
/** A round of CometBFT is an int32. */
const ROUND_MAX = 2 ** 31 - 1;

function castOf(item: RlpItem): Pick<ConsensusData, "cast"> {
  if (item.length === 0 && !(item instanceof Uint8Array)) return {};
  const [voteField, startingSet] = listOf(item, 2);
  const vote = voteOfItem(voteField!);
  if (!vote) throw malformed("vote");
  return { cast: { vote, startingSet: startingSetOfItem(startingSet!) } };
}

function malformed(field: string): MalformedBytesError {
  return new MalformedBytesError(`consensus data: malformed ${field}`);
}
