import type { Signature } from "../../base/crypto/secp256k1-backend.ts";
import { type Address, addressToBytes } from "../../base/primitives/address.ts";
import { bigintToFixedBytes, bytesToBigint, concatBytes } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../base/primitives/hash.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { uint64Bytes } from "./checkpoints/checkpoint.ts";

/** The state of the oracle contract; `height` is 0 while it has no checkpoint. */
type OracleCheckpoint = {
  readonly sectionIndex: number;
  readonly hash: Hash;
  readonly height: number;
};

type OracleVote = {
  /** One of the last 256 blocks, and its hash. */
  readonly recentNumber: number;
  readonly recentHash: Hash;
  readonly hash: Hash;
  readonly sectionIndex: number;
  /** Signature of one admin over `voteDigest`. */
  readonly signature: Signature;
};

/** Calldata of `GetLatestCheckpoint()`. */
export const GET_LATEST_CHECKPOINT = selector("GetLatestCheckpoint()");

const SET_CHECKPOINT = selector("SetCheckpoint(uint256,bytes32,bytes32,uint64,uint8[],bytes32[],bytes32[])");

/** The digest that an admin signs: EIP-191, version 0, with the contract as validator. */
export function voteDigest(oracle: Address, sectionIndex: number, hash: Hash): Uint8Array {
  return keccak256(
    concatBytes(Uint8Array.of(0x19, 0x00), addressToBytes(oracle), uint64Bytes(sectionIndex), hashToBytes(hash)),
  );
}

/** Calldata of `SetCheckpoint` with one signature. */
export function setCheckpointData(vote: OracleVote): Uint8Array {
  const { recentNumber, recentHash, hash, sectionIndex, signature } = vote;
  const { r, s, yParity } = signature;
  const headWords = 7n;
  // Each array of one element is two words: its length and the element.
  const offsets = [0n, 2n, 4n].map((word) => wordOf(32n * (headWords + word)));
  const arrays = [BigInt(27 + yParity), r, s].flatMap((element) => [wordOf(1n), wordOf(element)]);
  return concatBytes(
    SET_CHECKPOINT,
    wordOf(BigInt(recentNumber)),
    hashToBytes(recentHash),
    hashToBytes(hash),
    wordOf(BigInt(sectionIndex)),
    ...offsets,
    ...arrays,
  );
}

/** Decodes the result of `GetLatestCheckpoint()`; undefined for another length, as at an address without the contract. */
export function decodeOracleCheckpoint(result: Uint8Array): OracleCheckpoint | undefined {
  if (result.length !== 96) return undefined;
  return {
    sectionIndex: Number(bytesToBigint(result.subarray(0, 32))),
    hash: hashFromBytes(result.subarray(32, 64)),
    height: Number(bytesToBigint(result.subarray(64))),
  };
}

function selector(signature: string): Uint8Array {
  return keccak256(Buffer.from(signature)).slice(0, 4);
}

function wordOf(value: bigint): Uint8Array {
  return bigintToFixedBytes(value, 32);
}
