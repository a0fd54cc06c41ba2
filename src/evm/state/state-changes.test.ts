import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import fc from "../../../test/support/fast-check.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import type { StateReader } from "./reader.ts";
import { mergeChanges, patchedState, statePatch } from "./state-changes.ts";
import { createWorldState } from "./world-state.ts";

const ADDRESSES = [1, 2, 3].map((n) => `0x${"0".repeat(39)}${n}` as Address);
const SLOTS = [1, 2, 3].map((n) => `0x${"0".repeat(63)}${n}` as Hash);

/** One change of a world state. */
type Edit =
  | { readonly kind: "account"; readonly of: number; readonly balance: number }
  | { readonly kind: "slot"; readonly of: number; readonly slot: number; readonly value: number }
  | { readonly kind: "delete"; readonly of: number };

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({
    kind: fc.constant("account" as const),
    of: fc.nat(2),
    balance: fc.nat(5),
  }),
  fc.record({
    kind: fc.constant("slot" as const),
    of: fc.nat(2),
    slot: fc.nat(2),
    value: fc.nat(2),
  }),
  fc.record({ kind: fc.constant("delete" as const), of: fc.nat(2) }),
);

/** The changes that `edits` make of `base`. */
function changesOf(edits: readonly Edit[], base: StateReader) {
  const state = createWorldState(base);
  for (const edit of edits) {
    const address = ADDRESSES[edit.of]!;
    if (edit.kind === "account") {
      const balance = BigInt(edit.balance);
      state.setAccount(address, { nonce: 1n, balance, codeHash: EMPTY_CODE_HASH });
    } else if (edit.kind === "delete") {
      state.deleteAccount(address);
    } else if (state.account(address) !== undefined) {
      state.setStorage(address, SLOTS[edit.slot]!, BigInt(edit.value));
    }
  }
  return state.changes();
}

function contentOf(state: StateReader) {
  return ADDRESSES.map((address) => ({
    account: state.account(address),
    slots: SLOTS.map((slot) => state.storage(address, slot)),
    entries: [...state.storageEntries(address)].sort(([a], [b]) => (a < b ? -1 : 1)),
  }));
}

test("a patched state reads as the changes say, and two changes merge into one", () => {
  fc.assert(
    fc.property(fc.array(edit), fc.array(edit), fc.array(edit), (alloc, first, second) => {
      const genesis = createMemoryState(new Map());
      const base = patchedState(genesis, statePatch(changesOf(alloc, genesis)));
      const changes = changesOf(first, base);
      const once = patchedState(base, statePatch(changes));
      const then = changesOf(second, once);
      const twice = patchedState(once, statePatch(then));
      const merged = patchedState(base, statePatch(mergeChanges(changes, then)));
      assert.deepEqual(contentOf(merged), contentOf(twice));
    }),
  );
});
