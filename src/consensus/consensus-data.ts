import { NodeError } from "../errors.ts";
import { type Address, addressFromBytes, addressToBytes } from "../primitives/address.ts";
import { bigintToBytes, bytesToBigint, concatBytes, EMPTY_BYTES, equalBytes } from "../primitives/bytes.ts";
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

/**
 * What a proposer decides of a block besides its transactions: the first element of every proposal.
 *
 *     0xbf ‖ RLP([version, feeRecipient, extraData, gasLimit, vote or []])
 *
 * No transaction begins with a byte from 0x80 to 0xbf. `voting/vote-codec.ts` has the form of a vote.
 */
export type ProposerData = {
  readonly feeRecipient: Address;
  /** at most 32 bytes */
  readonly extraData: Uint8Array;
  readonly gasLimit: bigint;
  /** About the validator set. */
  readonly vote?: Vote;
};

const PREFIX = 0xbf;
const VERSION = Uint8Array.of(1);
const ENCODED_BYTES_MAX = 256;

/** The first element of a proposal is missing, malformed or not canonical. */
export class InvalidProposerDataError extends NodeError {
  readonly code = "INVALID_PROPOSER_DATA";
}

export function encodeProposerData(data: ProposerData): Uint8Array {
  return concatBytes(
    Uint8Array.of(PREFIX),
    encodeRlp([
      VERSION,
      addressToBytes(data.feeRecipient),
      data.extraData,
      bigintToBytes(data.gasLimit),
      data.vote ? voteItem(data.vote) : [],
    ]),
  );
}

/** @throws InvalidProposerDataError */
export function decodeProposerData(bytes: Uint8Array | undefined): ProposerData {
  if (bytes === undefined || bytes[0] !== PREFIX || bytes.length > ENCODED_BYTES_MAX) {
    throw new InvalidProposerDataError("a block begins with proposer data");
  }
  const fields = fieldsOf(bytes);
  const [version, feeRecipient, extraData, gasLimit, voteField] = fields;
  const vote = voteField && voteOfItem(voteField);
  const hasNoVote = !(voteField instanceof Uint8Array) && voteField?.length === 0;
  if (
    fields.length !== 5 ||
    !(version instanceof Uint8Array && feeRecipient instanceof Uint8Array) ||
    !(extraData instanceof Uint8Array && gasLimit instanceof Uint8Array) ||
    !equalBytes(version, VERSION) ||
    feeRecipient.length !== 20 ||
    extraData.length > 32 ||
    gasLimit.length > 8 ||
    gasLimit[0] === 0 ||
    !(vote || hasNoVote)
  ) {
    throw new InvalidProposerDataError("malformed proposer data");
  }
  return {
    feeRecipient: addressFromBytes(feeRecipient),
    extraData,
    gasLimit: bytesToBigint(gasLimit),
    ...(vote && { vote }),
  };
}

function fieldsOf(bytes: Uint8Array) {
  try {
    const item = decodeRlp(bytes.subarray(1));
    if (!(item instanceof Uint8Array)) return item;
  } catch (cause) {
    throw new InvalidProposerDataError("proposer data is not RLP", {}, { cause });
  }
  throw new InvalidProposerDataError("proposer data is not a list");
}
