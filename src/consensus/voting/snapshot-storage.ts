import { invariant } from "../../base/errors.ts";
import { type Address, addressFromBytes, addressToBytes } from "../../base/primitives/address.ts";
import { bigintToBytes, bytesToBigint } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../base/primitives/hash.ts";
import { decodeRlp, encodeRlp, type RlpItem } from "../../base/primitives/rlp.ts";
import { readAccountBytes, writeAccountBytes } from "../../chain/agreement/account-bytes.ts";
import type { AccountWriter } from "../../evm/machine/state-port.ts";
import type { StateReader } from "../../evm/state/reader.ts";
import { atBlock, type CastVote, type Jailed, type Snapshot } from "./snapshot.ts";
import { type StartingSet, signersItem, signersOfItem, startingSetHash, startSnapshot } from "./starting-set.ts";
import { voteItem, voteOfItem } from "./vote-codec.ts";

/**
 * The account whose storage holds the snapshot: "evmint.clique" in ASCII, an address without a known key. It has nonce 1, so that EIP-161 never
 * deletes it, and no code, so that no transaction changes it.
 */
export const CLIQUE_ADDRESS = "0x65766d696e742e636c6971756500000000000000" as Address;

/** A stored snapshot, with the starting set it was counted from. */
type StoredSnapshot = Snapshot & { readonly startingSetHash: Hash };

export function readSnapshot(state: Pick<StateReader, "storage">): StoredSnapshot | undefined {
  const bytes = readAccountBytes(state, CLIQUE_ADDRESS);
  return bytes && decode(bytes);
}

/**
 * Writes `snapshot`, outside of any transaction:
 *
 *     RLP([startingSetHash, [[address, publicKey] …], [[signer, block, candidate, 0xff or 0x00, publicKey] …], [[address, block] …]])
 *
 * The last list has the jailed validators and is omitted if none.
 */
export function writeSnapshot(snapshot: StoredSnapshot, state: AccountWriter): void {
  writeAccountBytes(state, CLIQUE_ADDRESS, encode(snapshot));
}

function encode({ startingSetHash, signers, votes, jailed = [] }: StoredSnapshot): Uint8Array {
  return encodeRlp([
    hashToBytes(startingSetHash),
    signersItem(signers),
    votes.map(({ signer, block, ...vote }) => [
      addressToBytes(signer),
      bigintToBytes(BigInt(block)),
      ...voteItem(vote),
    ]),
    ...(jailed.length === 0 ? [] : [jailed.map(jailedItem)]),
  ]);
}

function decode(bytes: Uint8Array): StoredSnapshot {
  const [hash, signers, votes, jailed] = decodeRlp(bytes) as readonly [
    Uint8Array,
    RlpItem,
    ...(Uint8Array[][] | undefined)[],
  ];
  return {
    startingSetHash: hashFromBytes(hash),
    signers: signersOfItem(signers),
    votes: votes!.map(([signer, block, ...item]): CastVote => {
      const vote = voteOfItem(item);
      invariant(vote, "a stored vote decodes");
      return {
        ...vote,
        signer: addressFromBytes(signer!),
        block: Number(bytesToBigint(block!)),
      };
    }),
    ...(jailed && { jailed: jailed.map(jailedOf) }),
  };
}

function jailedItem({ address, block }: Jailed): RlpItem {
  return [addressToBytes(address), bigintToBytes(BigInt(block))];
}

function jailedOf([address, block]: readonly Uint8Array[]): Jailed {
  return { address: addressFromBytes(address!), block: Number(bytesToBigint(block!)) };
}

/** The snapshot in `state`, by the votes that count from `startingSet`. */
export function snapshotIn(state: Pick<StateReader, "storage">, startingSet: StartingSet, height: number): Snapshot {
  const stored = readSnapshot(state);
  return stored?.startingSetHash === startingSetHash(startingSet)
    ? atBlock(stored, height)
    : startSnapshot(startingSet);
}
