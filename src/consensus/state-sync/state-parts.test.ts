import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { IS_NIGHTLY } from "../../../test/support/nightly.ts";
import { addressFromBytes, addressToBytes } from "../../base/primitives/address.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../base/primitives/hash.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import { readChanges } from "../../chain/records/changes-record.ts";
import { OrderedState } from "../../chain/store/nodes/ordered-state.ts";
import type { StatePiece } from "../../chain/store/retention/state-pieces.ts";
import type { AccountChange } from "../../evm/state/reader.ts";
import { ByteReader } from "../../store/storage/byte-io.ts";
import { BoundaryProofs } from "./boundary-proofs.ts";
import { StateParts } from "./state-parts.ts";

const hashOf = (hex: `0x${string}`) =>
  keccak256(hex.length === 42 ? addressToBytes(hex as never) : hashToBytes(hex as Hash));
const byHash = (a: `0x${string}`, b: `0x${string}`) => Buffer.compare(hashOf(a), hashOf(b));

/** Accounts in the order of their hashes; every seventh has slots, some of them many. Values of a byte make leaves that their parents embed. */
function pieces(): StatePiece[] {
  const addresses = Array.from({ length: 60 }, (_, i) => addressFromBytes(keccak256(Uint8Array.of(i)).subarray(12)));
  return addresses.sort(byHash).flatMap((address, i) => {
    const account = { nonce: BigInt(i), balance: 2n ** BigInt(i), codeHash: EMPTY_CODE_HASH };
    const slots = Array.from({ length: i % 7 === 0 ? 1 + i * 3 : 0 }, (_, slot) => {
      return hashFromBytes(keccak256(Uint8Array.of(i, slot)));
    }).sort(byHash);
    const made: StatePiece[] = [];
    for (let start = 0; start === 0 || start < slots.length; start += 10) {
      const storage = new Map(slots.slice(start, start + 10).map((slot, at) => [slot, BigInt(at + 1)]));
      made.push({ address, account, storage });
    }
    return made;
  });
}

/** The parts of the state with their proofs, and its root. */
function partsOf(all: readonly StatePiece[]) {
  const proofs = new BoundaryProofs();
  const state = new OrderedState(proofs.sinkOf);
  const parts = new StateParts(proofs, () => new Uint8Array(), 900);
  const contents: Uint8Array[] = [];
  let last: string | undefined;
  for (const piece of all) {
    addPiece(state, piece, last);
    last = piece.address;
    const part = parts.add(piece);
    if (part !== undefined) contents.push(part);
  }
  const rest = parts.finish();
  if (rest !== undefined) contents.push(rest);
  const root = state.finish();
  return { contents, root, proofs: proofs.proofs() };
}

function addPiece(
  state: OrderedState,
  { address, account, storage }: StatePiece | AccountChange,
  last: string | undefined,
) {
  if (address !== last) state.addAccount(hashOf(address), account!);
  for (const [slot, value] of storage) state.addSlot(hashOf(slot), value);
}

describe("StateParts", () => {
  const all = pieces();
  const { contents, root, proofs } = partsOf(all);
  const parts = contents.map((content) => readChanges(new ByteReader(content)).accounts);

  test("each part is proven by the nodes on the way to its end, also where it ends within the storage of an account", () => {
    const state = new OrderedState();
    let last: string | undefined;
    let splits = 0;
    for (const [index, accounts] of parts.entries()) {
      if (accounts[0]!.address === last) splits++;
      for (const change of accounts) {
        addPiece(state, change, last);
        last = change.address;
      }
      if (index < proofs.length) state.assertBegins(root, proofs[index]!);
    }
    assert.deepEqual(state.finish(), root);
    assert.ok(parts.length > 30 && splits > 10, `${parts.length} parts, ${splits} splits`);
    assert.ok(proofs.length >= parts.length - 1);
  });

  test("a part that lacks an account or a slot, or has one with another value, is not proven", () => {
    let tried = 0;
    for (let index = 0; index < proofs.length; index += IS_NIGHTLY ? 1 : 4) {
      const before = parts[index - 1]?.at(-1)?.address;
      for (const tampered of tamperings(parts[index]!, before)) {
        const state = new OrderedState();
        let last: string | undefined;
        const add = (change: AccountChange) => {
          addPiece(state, change, last);
          last = change.address;
        };
        for (const accounts of parts.slice(0, index)) accounts.forEach(add);
        if (index > 0) state.assertBegins(root, proofs[index - 1]!);
        assert.throws(
          () => {
            tampered.forEach(add);
            state.assertBegins(root, proofs[index]!);
          },
          ({ code }: { code: string }) => code === "INVALID_TRIE_PROOF" || code === "STORE_INVALID_STATE",
        );
        tried++;
      }
    }
    assert.ok(tried > (IS_NIGHTLY ? 200 : 50), `${tried}`);
  });
});

/** @param before address of the account before them */
function* tamperings(
  accounts: readonly AccountChange[],
  before: string | undefined,
): Generator<readonly AccountChange[]> {
  for (const [at, change] of accounts.entries()) {
    const { address, account, storage } = change;
    yield accounts.toSpliced(at, 1);
    // Of more slots of an account the account itself is not read again.
    if (address !== (accounts[at - 1]?.address ?? before))
      yield accounts.with(at, { ...change, account: { ...account!, balance: account!.balance + 1n } });
    const slots = [...storage];
    for (const [i, [slot, value]] of slots.entries()) {
      yield accounts.with(at, { ...change, storage: new Map(slots.toSpliced(i, 1)) });
      yield accounts.with(at, { ...change, storage: new Map(slots.with(i, [slot, value + 1n])) });
    }
  }
}
