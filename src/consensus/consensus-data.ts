import { invariant } from "../errors.ts";
import { type Address, addressFromBytes, addressToBytes } from "../primitives/address.ts";
import { bigintToBytes, bytesToBigint } from "../primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes, ZERO_HASH } from "../primitives/hash.ts";
import { decodeRlp, encodeRlp } from "../primitives/rlp.ts";

/**
 * Stored with a block besides its Ethereum form: RLP([consensusHash, proposer, nanos]).
 * Genesis and imported blocks have none and count as hash 0.
 */
export type ConsensusData = {
  readonly consensusHash: Hash;
  readonly proposer: Address;
  /** Nanoseconds of the block's time beyond its timestamp. */
  readonly nanos: number;
};

export function encodeConsensusData(data: ConsensusData): Uint8Array {
  return encodeRlp([
    hashToBytes(data.consensusHash),
    addressToBytes(data.proposer),
    bigintToBytes(BigInt(data.nanos)),
  ]);
}

/** The engine's hash of a block, from its stored consensus data. */
export function consensusHashOf(bytes: Uint8Array): Hash {
  return bytes.length === 0 ? ZERO_HASH : decodeConsensusData(bytes).consensusHash;
}

function decodeConsensusData(bytes: Uint8Array): ConsensusData {
  const item = decodeRlp(bytes);
  invariant(!(item instanceof Uint8Array), "consensus data is a list");
  const [hash, proposer, nanos] = item as readonly Uint8Array[];
  invariant(hash && proposer && nanos, "consensus data has three fields");
  return {
    consensusHash: hashFromBytes(hash),
    proposer: addressFromBytes(proposer),
    nanos: Number(bytesToBigint(nanos)),
  };
}
