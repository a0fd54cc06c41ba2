import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address } from "../../base/primitives/address.ts";
import { jail } from "./jail.ts";
import { countVote, type Signer, type Snapshot } from "./snapshot.ts";

const KEY = new Uint8Array(33);
const SIGNERS = ["a", "b", "c", "d", "e"].map(
  (digit): Signer => ({ address: `0x${digit.repeat(40)}` as Address, publicKey: KEY }),
);
const [A, B, C, D, E] = SIGNERS.map(({ address }) => address) as [Address, Address, Address, Address, Address];
const START: Snapshot = { signers: SIGNERS, votes: [] };

const addressesOf = ({ signers }: Snapshot) => signers.map(({ address }) => address);
const drop = (candidate: Address, signer: Address) => ({
  candidate,
  signer,
  authorize: false,
  publicKey: new Uint8Array(0),
  block: 9,
});

test("a validator that signed against itself is removed with its votes and those about it", () => {
  const voted = [drop(B, A), drop(A, C), drop(B, C)].reduce((snapshot, cast) => countVote(snapshot, cast), START);
  const { snapshot, jailed } = jail(voted, [{ address: A, height: 8 }], 10);
  assert.deepEqual(addressesOf(snapshot), [B, C, D, E]);
  assert.deepEqual(snapshot.votes, [drop(B, C)]);
  assert.deepEqual(snapshot.jailed, [{ address: A, block: 10 }]);
  assert.deepEqual(jailed, [{ address: A, height: 8 }]);
});

test("the last three validators stay, and others are no validators", () => {
  const stranger = `0x${"9".repeat(40)}` as Address;
  const offences = [stranger, A, A, B, C].map((address) => ({ address, height: 8 }));
  const { snapshot, jailed } = jail(START, offences, 10);
  assert.deepEqual(addressesOf(snapshot), [C, D, E]);
  assert.deepEqual(
    jailed.map(({ address }) => address),
    [A, B],
  );
  const again = jail(snapshot, [{ address: C, height: 11 }], 12);
  assert.equal(again.snapshot, snapshot);
  assert.deepEqual(again.jailed, []);
});

test("a validator that is voted in again is removed only for later offences", () => {
  const { snapshot } = jail(START, [{ address: A, height: 8 }], 10);
  const back = [B, C, D].reduce(
    (current, signer) => countVote(current, { candidate: A, authorize: true, publicKey: KEY, signer, block: 20 }),
    snapshot,
  );
  assert.deepEqual(addressesOf(back), [A, B, C, D, E]);
  assert.deepEqual(back.jailed, [{ address: A, block: 10 }]);
  for (const height of [9, 11]) assert.deepEqual(jail(back, [{ address: A, height }], 25).jailed, []);
  const second = jail(back, [{ address: A, height: 23 }], 25);
  assert.deepEqual(addressesOf(second.snapshot), [B, C, D, E]);
  assert.deepEqual(second.snapshot.jailed, [{ address: A, block: 25 }]);
});
