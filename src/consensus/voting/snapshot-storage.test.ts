import assert from "node:assert/strict";
import { test } from "node:test";
import { ACCOUNTS, openTestApplication } from "../../../test/support/consensus/test-application.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { createWorldState } from "../../evm/state/world-state.ts";
import type { CastVote } from "./snapshot.ts";
import { CLIQUE_ADDRESS, readSnapshot, writeSnapshot } from "./snapshot-storage.ts";

const EMPTY = new Uint8Array();
const KEY = new Uint8Array(33).fill(2);

function snapshotOf(signers: number, votes: number) {
  const address = (n: number) => `0x${n.toString(16).padStart(40, "0")}` as (typeof ACCOUNTS)[0];
  return {
    startingSetHash: keccak256Hash(EMPTY),
    signers: Array.from({ length: signers }, (_, n) => ({ address: address(n), publicKey: KEY })),
    votes: Array.from({ length: votes }, (_, n): CastVote => {
      const fields = { signer: address(n), block: n * 1_000, candidate: address(n + 1) };
      return { ...fields, authorize: false, publicKey: EMPTY };
    }),
  };
}

test("readSnapshot returns what writeSnapshot wrote, also over longer and shorter ones, and leaves no rest", () => {
  const { chain } = openTestApplication();
  const state = createWorldState(chain.stateAt(0));
  assert.equal(readSnapshot(state), undefined);
  for (const [signers, votes] of [
    [1, 0],
    [100, 200],
    [3, 2],
    [4, 0],
  ] as const) {
    const snapshot = snapshotOf(signers, votes);
    writeSnapshot(snapshot, state);
    assert.deepEqual(readSnapshot(state), snapshot);
  }
  const fresh = createWorldState(chain.stateAt(0));
  writeSnapshot(snapshotOf(4, 0), fresh);
  const written = (of: typeof state) =>
    new Map([...of.changes().accounts[0]!.storage].filter(([, value]) => value !== 0n));
  assert.deepEqual(written(state), written(fresh));
});

test("writeSnapshot makes an account that EIP-161 does not delete, and leaves its balance", () => {
  const { chain } = openTestApplication();
  const state = createWorldState(chain.stateAt(0));
  const { codeHash } = state.account(ACCOUNTS[0]!)!;
  state.setAccount(CLIQUE_ADDRESS, { nonce: 0n, balance: 5n, codeHash });
  writeSnapshot(snapshotOf(1, 0), state);
  state.finalizeTransaction({ selfDestructs: [], deleteEmptyTouched: true });
  assert.deepEqual(state.account(CLIQUE_ADDRESS), { nonce: 1n, balance: 5n, codeHash });
});
