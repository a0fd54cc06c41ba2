import { type Address, addressFromBytes, addressToBytes } from "../../primitives/address.ts";
import { bigintToBytes, bytesToBigint, EMPTY_BYTES } from "../../primitives/bytes.ts";
import type { Hash } from "../../primitives/hash.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { encodeRlp, type RlpItem } from "../../primitives/rlp.ts";
import { type Signer, type Snapshot, sorted } from "./snapshot.ts";

/** The validators an engine starts with: those of CometBFT's genesis, or the one of the solo engine. */
export type StartingSet = {
  /** First block the engine decides; 0 for the solo engine. */
  readonly initialHeight: number;
  readonly signers: readonly Signer[];
};

/** The solo engine's one validator. */
export function soloStartingSet(address: Address): StartingSet {
  return { initialHeight: 0, signers: [{ address, publicKey: EMPTY_BYTES }] };
}

/** Before the first vote. */
export function startSnapshot({ signers }: StartingSet): Snapshot {
  return { signers: sorted(signers), votes: [] };
}

/** `[initialHeight, [[address, publicKey] …]]` */
export function startingSetItem({ initialHeight, signers }: StartingSet): RlpItem {
  return [bigintToBytes(BigInt(initialHeight)), signersItem(sorted(signers))];
}

export function startingSetOfItem(item: RlpItem): StartingSet {
  const [initialHeight, signers] = item as readonly [Uint8Array, RlpItem];
  return { initialHeight: Number(bytesToBigint(initialHeight)), signers: signersOfItem(signers) };
}

/** Identifies a starting set: votes that were counted from another one are void. */
export function startingSetHash(set: StartingSet): Hash {
  return keccak256Hash(encodeRlp(startingSetItem(set)));
}

export function signersItem(signers: readonly Signer[]): RlpItem {
  return signers.map(({ address, publicKey }) => [addressToBytes(address), publicKey]);
}

export function signersOfItem(item: RlpItem): readonly Signer[] {
  return (item as readonly (readonly [Uint8Array, Uint8Array])[]).map(([address, publicKey]) => ({
    address: addressFromBytes(address),
    publicKey,
  }));
}
