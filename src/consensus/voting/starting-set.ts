import { type Address, addressFromBytes, addressToBytes } from "../../base/primitives/address.ts";
import { bigintToBytes, EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { encodeRlp, type RlpItem } from "../../base/primitives/rlp.ts";
import { MalformedBytesError } from "../../store/storage/byte-io.ts";
import { type Signer, type Snapshot, sorted } from "./snapshot.ts";
import { integerOf, listOf } from "./vote-codec.ts";

/** The initial validators of an engine: those of CometBFT's genesis, or the solo engine's. */
export type StartingSet = {
  /** First height that the engine decides; 0 for the solo engine. */
  readonly initialHeight: number;
  readonly signers: readonly Signer[];
};

/** The solo engine's only validator. */
export function soloStartingSet(address: Address): StartingSet {
  return { initialHeight: 0, signers: [{ address, publicKey: EMPTY_BYTES }] };
}

/** The snapshot before the first vote. */
export function startSnapshot({ signers }: StartingSet): Snapshot {
  return { signers: sorted(signers), votes: [] };
}

/** `[initialHeight, [[address, publicKey] …]]` */
export function startingSetItem({ initialHeight, signers }: StartingSet): RlpItem {
  return [bigintToBytes(BigInt(initialHeight)), signersItem(sorted(signers))];
}

/** @throws MalformedBytesError for items that `startingSetItem` does not make */
export function startingSetOfItem(item: RlpItem): StartingSet {
  const [initialHeight, signersField] = listOf(item, 2);
  const initial = integerOf(initialHeight, Number.MAX_SAFE_INTEGER);
  const signers = signersOfItem(signersField!);
  const isAscending = signers.every(({ address }, index) => index === 0 || signers[index - 1]!.address < address);
  if (!isAscending) throw new MalformedBytesError("signers are not in order");
  return { initialHeight: initial, signers };
}

/** Identifies a starting set: votes counted from another one are void. */
export function startingSetHash(set: StartingSet): Hash {
  return keccak256Hash(encodeRlp(startingSetItem(set)));
}

export function signersItem(signers: readonly Signer[]): RlpItem {
  return signers.map(({ address, publicKey }) => [addressToBytes(address), publicKey]);
}

/** @throws MalformedBytesError for items that `signersItem` does not make */
export function signersOfItem(item: RlpItem): readonly Signer[] {
  return listOf(item).map((signer) => {
    const [address, publicKey] = listOf(signer, 2);
    if (!(address instanceof Uint8Array) || address.length !== 20) throw malformedSigner();
    if (!(publicKey instanceof Uint8Array) || !KEY_LENGTHS.includes(publicKey.length)) {
      throw malformedSigner();
    }
    return { address: addressFromBytes(address), publicKey };
  });
}

/** Empty under the solo engine, or compressed. */
const KEY_LENGTHS: readonly number[] = [0, 33];

function malformedSigner(): MalformedBytesError {
  return new MalformedBytesError("a signer is an address and its public key");
}
