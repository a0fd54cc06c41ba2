import { NodeError } from "../base/errors.ts";
import { type Address, addressFromBytes, addressToBytes } from "../base/primitives/address.ts";
import { bigintToBytes, bytesToBigint, concatBytes, EMPTY_BYTES } from "../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes, ZERO_HASH } from "../base/primitives/hash.ts";
import { decodeRlp, encodeRlp, type RlpItem, rlpPrefix } from "../base/primitives/rlp.ts";
import { type Parameter, parameterItem, parameterOfItem } from "../chain/agreement/agreement.ts";
import { MalformedBytesError } from "../store/storage/byte-io.ts";
import type { GovernanceInBlock } from "./voting/block-effect.ts";
import type { Offence } from "./voting/jail.ts";
import type { Vote } from "./voting/snapshot.ts";
import { startingSetItem, startingSetOfItem } from "./voting/starting-set.ts";
import { integerOf, listOf, voteItem, voteOfItem } from "./voting/vote-codec.ts";

/**
 * Stored with a block besides its Ethereum form: RLP([consensusHash, proposer, nanos, parentRound, cast]), where cast is one of
 *
 *     []
 *     [vote, startingSet]
 *     [vote or [], startingSet, parameterVote or [], [[address, height] …]]
 *
 * The last form is for blocks with a vote about a rule, or an offence for which a validator was removed. Blocks from before votes existed have
 * the first three fields. Genesis and imported blocks without a vote or an offence have no consensus data; they count as hash 0.
 */
export type ConsensusData = {
  readonly consensusHash: Hash;
  readonly proposer: Address;
  /** Nanoseconds of the block's time beyond its timestamp. */
  readonly nanos: number;
  /** The round in which the parent was committed; 0 if the proposer whose turn it was made it. */
  readonly parentRound: number;
  /** Votes and offences, with the data to compute their effect again. */
  readonly cast?: GovernanceInBlock;
};

export function encodeConsensusData(data: ConsensusData): Uint8Array {
  const { cast } = data;
  return encodeRlp([
    hashToBytes(data.consensusHash),
    addressToBytes(data.proposer),
    bigintToBytes(BigInt(data.nanos)),
    bigintToBytes(BigInt(data.parentRound)),
    cast ? castItem(cast) : [],
  ]);
}

function castItem({ vote, startingSet, parameterVote, offences = [] }: GovernanceInBlock): RlpItem {
  const items = [vote ? voteItem(vote) : [], startingSetItem(startingSet)];
  if (!parameterVote && offences.length === 0) return items;
  return [
    ...items,
    parameterVote ? parameterItem(parameterVote) : [],
    offences.map(({ address, height }) => [addressToBytes(address), bigintToBytes(BigInt(height))]),
  ];
}

/** The engine's hash of a block: the first field of its stored consensus data, without the others. @throws MalformedBytesError, InvalidRlpError */
export function consensusHashOf(bytes: Uint8Array): Hash {
  if (bytes.length === 0) return ZERO_HASH;
  const list = rlpPrefix(bytes, 0, bytes.length, 0);
  if (!list.isList) throw malformed("shape");
  const { isList, start, length } = rlpPrefix(bytes, list.start, list.start + list.length, 1);
  if (isList || length !== 32) throw malformed("hash");
  return hashFromBytes(bytes.subarray(start, start + length));
}

/**
 * Decodes consensus data; undefined if a block has none. Accepts only what `encodeConsensusData` and earlier versions write: peers and chain
 * files supply such bytes too.
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

/** Of earlier versions and of this one. */
const FIELD_COUNTS: readonly number[] = [3, 5];
const NANOS_MAX = 999_999_999;
/** A round of CometBFT is an int32. */
const ROUND_MAX = 2 ** 31 - 1;

function castOf(item: RlpItem): Pick<ConsensusData, "cast"> {
  if (isEmptyList(item)) return {};
  const fields = listOf(item);
  if (!CAST_COUNTS.includes(fields.length)) throw malformed("cast");
  const [voteField, startingSet, parameterField, offenceField] = fields;
  const vote = isEmptyList(voteField!) ? undefined : voteOfItem(voteField!);
  if (!vote && !isEmptyList(voteField!)) throw malformed("vote");
  const decoded = { ...(vote && { vote }), startingSet: startingSetOfItem(startingSet!) };
  if (parameterField === undefined) {
    if (!vote) throw malformed("vote");
    return { cast: decoded };
  }
  const parameterVote = isEmptyList(parameterField) ? undefined : parameterOfItem(parameterField);
  if (!parameterVote && !isEmptyList(parameterField)) throw malformed("vote about a rule");
  const offences = listOf(offenceField).map(offenceOf);
  if (!parameterVote && offences.length === 0) throw malformed("cast");
  return {
    cast: { ...decoded, ...(parameterVote && { parameterVote }), ...(offences.length > 0 && { offences }) },
  };
}

/** Of earlier versions and of this one. */
const CAST_COUNTS: readonly number[] = [2, 4];

function offenceOf(item: RlpItem): Offence {
  const [address, height] = listOf(item, 2);
  if (!(address instanceof Uint8Array) || address.length !== 20) throw malformed("offence");
  return { address: addressFromBytes(address), height: integerOf(height, Number.MAX_SAFE_INTEGER) };
}

function isEmptyList(item: RlpItem): boolean {
  return item.length === 0 && !(item instanceof Uint8Array);
}

function malformed(field: string): MalformedBytesError {
  return new MalformedBytesError(`consensus data: malformed ${field}`);
}

/**
 * What a proposer decides of a block besides its transactions: the first element of every proposal.
 *
 *     0xbf ‖ RLP([1, feeRecipient, extraData, gasLimit, vote or []])
 *     0xbf ‖ RLP([2, feeRecipient, extraData, gasLimit, vote or [], forkHash])
 *     0xbf ‖ RLP([3, feeRecipient, extraData, gasLimit, vote or [], forkHash or "", parameterVote])
 *
 * Version 2 is that of proposers that know of a fork by time after block 0, begun or not, so that nodes that are configured for another time
 * find out. Version 3 is that of blocks with a vote about a rule alone, so that a network whose nodes are upgraded one after the other goes on.
 * No transaction begins with a byte from 0x80 to 0xbf. `voting/vote-codec.ts` has the form of a vote, `chain/agreement/agreement.ts` that of
 * a vote about a rule.
 */
export type ProposerData = {
  readonly feeRecipient: Address;
  /** at most 32 bytes */
  readonly extraData: Uint8Array;
  readonly gasLimit: bigint;
  /** Vote about the validator set. */
  readonly vote?: Vote;
  /** 4 bytes, EIP-2124: the forks by which the proposer executes the block. */
  readonly forkHash?: Uint8Array | undefined;
  /** Vote about a rule of the chain. */
  readonly parameterVote?: Parameter;
};

const PREFIX = 0xbf;
const VERSIONS = { plain: 1, withForkHash: 2, withParameterVote: 3 } as const;
const NEWEST_VERSION = VERSIONS.withParameterVote;
const ENCODED_BYTES_MAX = 256;

/** The first element of a proposal is missing, malformed or not canonical. */
export class InvalidProposerDataError extends NodeError {
  readonly code = "INVALID_PROPOSER_DATA";
}

export function encodeProposerData(data: ProposerData): Uint8Array {
  const { feeRecipient, extraData, gasLimit, vote, forkHash, parameterVote } = data;
  const items = [addressToBytes(feeRecipient), extraData, bigintToBytes(gasLimit), vote ? voteItem(vote) : []];
  return concatBytes(Uint8Array.of(PREFIX), encodeRlp(withVersion(items, forkHash, parameterVote)));
}

function withVersion(items: readonly RlpItem[], forkHash?: Uint8Array, parameterVote?: Parameter): readonly RlpItem[] {
  if (parameterVote) {
    const version = Uint8Array.of(VERSIONS.withParameterVote);
    return [version, ...items, forkHash ?? EMPTY_BYTES, parameterItem(parameterVote)];
  }
  if (forkHash) return [Uint8Array.of(VERSIONS.withForkHash), ...items, forkHash];
  return [Uint8Array.of(VERSIONS.plain), ...items];
}

/** @throws InvalidProposerDataError */
export function decodeProposerData(bytes: Uint8Array | undefined): ProposerData {
  if (bytes === undefined || bytes[0] !== PREFIX || bytes.length > ENCODED_BYTES_MAX) {
    throw new InvalidProposerDataError("a block begins with proposer data");
  }
  const fields = fieldsOf(bytes);
  const [version, feeRecipient, extraData, gasLimit, voteField] = fields;
  assertVersionIsKnown(version);
  const vote = voteField && voteOfItem(voteField);
  const hasNoVote = !(voteField instanceof Uint8Array) && voteField?.length === 0;
  const later = laterFields(fields);
  if (
    later === undefined ||
    !(feeRecipient instanceof Uint8Array) ||
    !(extraData instanceof Uint8Array && gasLimit instanceof Uint8Array) ||
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
    ...later,
  };
}

/** A newer program's proposal: the effect of its block is unknown here. */
function assertVersionIsKnown(version: RlpItem | undefined): void {
  if (!(version instanceof Uint8Array) || version.length !== 1 || version[0]! <= NEWEST_VERSION) return;
  throw new InvalidProposerDataError(
    `proposer data has version ${version[0]}, but this program knows versions up to ${NEWEST_VERSION}: upgrade evmintd`,
    { version: version[0], newest: NEWEST_VERSION },
  );
}

/** The fields after the vote about a validator, by version; undefined for unknown versions. */
function laterFields(fields: readonly RlpItem[]): Pick<ProposerData, "forkHash" | "parameterVote"> | undefined {
  const [version, , , , , forkHash, parameterField] = fields;
  if (!(version instanceof Uint8Array) || version.length !== 1) return undefined;
  const [number] = version;
  if (number === VERSIONS.plain) return fields.length === 5 ? {} : undefined;
  if (!(forkHash instanceof Uint8Array)) return undefined;
  if (number === VERSIONS.withForkHash) return fields.length === 6 && forkHash.length === 4 ? { forkHash } : undefined;
  const parameterVote = parameterField && parameterOfItem(parameterField);
  if (number !== VERSIONS.withParameterVote || fields.length !== 7 || !parameterVote) return undefined;
  if (forkHash.length === 0) return { parameterVote };
  return forkHash.length === 4 ? { forkHash, parameterVote } : undefined;
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
