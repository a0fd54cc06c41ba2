import { invariant } from "../../errors.ts";
import type { State } from "../../evm/evm.ts";
import type { SystemUpdate } from "../../execution/block/block-execution.ts";
import { type Address, addressFromBytes, addressToBytes } from "../../primitives/address.ts";
import { bigintToBytes, bigintToFixedBytes, bytesToBigint, concatBytes } from "../../primitives/bytes.ts";
import { type Hash, hashFromBigint, hashFromBytes, hashToBytes } from "../../primitives/hash.ts";
import { decodeRlp, encodeRlp, type RlpItem } from "../../primitives/rlp.ts";
import { EMPTY_ACCOUNT } from "../../state/account.ts";
import type { StateReader } from "../../state/reader.ts";
import type { Validator } from "../application.ts";
import { atBlock, type CastVote, countVote, type Signer, type Snapshot, type Vote } from "./snapshot.ts";
import { type StartingSet, signersItem, signersOfItem, startingSetHash, startSnapshot } from "./starting-set.ts";
import { voteItem, voteOfItem } from "./vote-codec.ts";

/**
 * The account whose storage holds the snapshot: "evmint.clique" in ASCII, an address no key is known for. It has nonce 1, so that
 * EIP-161 never deletes it, and no code, so that no transaction changes it.
 */
export const CLIQUE_ADDRESS = "0x65766d696e742e636c6971756500000000000000" as Address;

/** A snapshot as it is stored, with the starting set it was counted from. */
type StoredSnapshot = Snapshot & { readonly startingSetHash: Hash };

const WORD_BYTES = 32;

/** The snapshot in `state`; undefined before the first vote of the chain. */
export function readSnapshot(state: Pick<StateReader, "storage">): StoredSnapshot | undefined {
  const length = Number(state.storage(CLIQUE_ADDRESS, slot(0)));
  if (length === 0) return undefined;
  const words = Array.from({ length: wordsOf(length) }, (_, i) =>
    bigintToFixedBytes(state.storage(CLIQUE_ADDRESS, slot(i + 1)), WORD_BYTES),
  );
  return decode(concatBytes(...words).subarray(0, length));
}

/**
 * Writes `snapshot`, outside of any transaction: its length in bytes to slot 0, and from slot 1 on the bytes of
 *
 *     RLP([startingSetHash, [[address, publicKey] …], [[signer, block, candidate, 0xff or 0x00, publicKey] …]])
 */
export function writeSnapshot(snapshot: StoredSnapshot, state: State): void {
  const bytes = encode(snapshot);
  const oldLength = Number(state.storage(CLIQUE_ADDRESS, slot(0)));
  if (oldLength === 0) {
    const account = state.account(CLIQUE_ADDRESS) ?? EMPTY_ACCOUNT;
    state.setAccount(CLIQUE_ADDRESS, { ...account, nonce: 1n });
  }
  state.setStorage(CLIQUE_ADDRESS, slot(0), BigInt(bytes.length));
  const words = Math.max(wordsOf(bytes.length), wordsOf(oldLength));
  for (let i = 0; i < words; i++) {
    const word = new Uint8Array(WORD_BYTES);
    word.set(bytes.subarray(i * WORD_BYTES, (i + 1) * WORD_BYTES));
    state.setStorage(CLIQUE_ADDRESS, slot(i + 1), bytesToBigint(word));
  }
}

function slot(index: number): Hash {
  return hashFromBigint(BigInt(index));
}

function wordsOf(length: number): number {
  return Math.ceil(length / WORD_BYTES);
}

function encode({ startingSetHash, signers, votes }: StoredSnapshot): Uint8Array {
  return encodeRlp([
    hashToBytes(startingSetHash),
    signersItem(signers),
    votes.map(({ signer, block, ...vote }) => [
      addressToBytes(signer),
      bigintToBytes(BigInt(block)),
      ...voteItem(vote),
    ]),
  ]);
}

function decode(bytes: Uint8Array): StoredSnapshot {
  const [hash, signers, votes] = decodeRlp(bytes) as readonly [Uint8Array, RlpItem, readonly (readonly Uint8Array[])[]];
  return {
    startingSetHash: hashFromBytes(hash),
    signers: signersOfItem(signers),
    votes: votes.map(([signer, block, ...item]): CastVote => {
      const vote = voteOfItem(item);
      invariant(vote, "a stored vote decodes");
      return {
        ...vote,
        signer: addressFromBytes(signer!),
        block: Number(bytesToBigint(block!)),
      };
    }),
  };
}

/** A vote in block `height`, with what it is counted from where the state holds no votes of this engine yet. */
type VoteInBlock = {
  readonly height: number;
  readonly proposer: Address;
  readonly vote: Vote;
  readonly startingSet: StartingSet;
};

type VoteEffect = {
  /** Stores the snapshot after the block. */
  readonly systemUpdate: SystemUpdate;
  /** What the engine has to change: a validator with power 1 is added, one with power 0 removed. */
  readonly validatorUpdates: readonly Validator[];
};

/** The snapshot in `state`, by the votes that count from `startingSet`. */
export function snapshotIn(state: Pick<StateReader, "storage">, startingSet: StartingSet, height: number): Snapshot {
  const stored = readSnapshot(state);
  return stored?.startingSetHash === startingSetHash(startingSet)
    ? atBlock(stored, height)
    : startSnapshot(startingSet);
}

/** What a vote does, in a block on the state `parent`; depends on its arguments alone. */
export function voteEffect(parent: StateReader, voteInBlock: VoteInBlock): VoteEffect {
  const { height, proposer, vote, startingSet } = voteInBlock;
  const before = snapshotIn(parent, startingSet, height);
  const after = countVote(before, { ...vote, signer: proposer, block: height });
  const stored = { ...after, startingSetHash: startingSetHash(startingSet) };
  return {
    systemUpdate: (state) => writeSnapshot(stored, state),
    validatorUpdates: [
      ...powers(missing(after.signers, before.signers), 1),
      ...powers(missing(before.signers, after.signers), 0),
    ],
  };
}

/** The signers of `all` that `others` has not. */
function missing(all: readonly Signer[], others: readonly Signer[]): readonly Signer[] {
  const known = new Set(others.map(({ address }) => address));
  return all.filter(({ address }) => !known.has(address));
}

function powers(signers: readonly Signer[], power: number): readonly Validator[] {
  return signers.map((signer) => ({ ...signer, power }));
}
