import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import fc from "../../../test/support/fast-check.ts";
import type { Address } from "../../base/primitives/address.ts";
import { type Hash, hashFromBigint } from "../../base/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import { type Account, EMPTY_ACCOUNT, isEmptyAccount } from "./account.ts";
import type { StateReader } from "./reader.ts";
import { createWorldState } from "./world-state.ts";

const addresses = [1, 2, 3, 4, 5].map((n) => `0x${n.toString(16).padStart(40, "0")}` as Address);
const slots = [0n, 1n, 2n].map(hashFromBigint);
const [alice, bob, ripemd] = addresses as [Address, Address, Address];
const [slot0, slot1] = slots as [Hash, Hash];
const funded = { nonce: 0n, balance: 5n, codeHash: EMPTY_CODE_HASH };

const withStorage = () =>
  createMemoryState(
    new Map([
      [alice, { balance: 1n, code: Uint8Array.of(0xfe), storage: new Map([[slot0, 7n]]) }],
      [bob, { balance: 0n }],
      [ripemd, { balance: 0n }],
    ]),
  );

test("createWorldState without a write has no changes", () => {
  const state = createWorldState(withStorage());
  state.account(alice);
  state.storage(alice, slot0);
  assert.deepEqual(state.changes(), { accounts: [], codes: new Map() });
});

test("changes leaves out what was written and put back", () => {
  const base = withStorage();
  const state = createWorldState(base);
  state.setStorage(alice, slot0, 8n);
  state.setStorage(alice, slot0, 7n);
  state.setAccount(alice, { ...base.account(alice)! });
  state.setAccount(addresses[4]!, funded);
  state.deleteAccount(addresses[4]!);
  assert.deepEqual(state.changes().accounts, []);
});

test("changes lists the old slots of a deleted account with 0", () => {
  const state = createWorldState(withStorage());
  state.finalizeTransaction({ selfDestructs: [alice], deleteEmptyTouched: true });
  assert.deepEqual(state.changes().accounts, [
    { address: alice, account: null, storage: new Map([[slot0, 0n]]), storageCleared: true },
  ]);
});

test("changes says storageCleared when a deleted account exists again, and holds its whole storage", () => {
  const state = createWorldState(withStorage());
  state.deleteAccount(alice);
  assert.equal(state.storage(alice, slot0), 0n);
  assert.equal(state.hasStorage(alice), false);
  state.setAccount(alice, funded);
  state.setStorage(alice, slot0, 7n);
  state.setStorage(alice, slot1, 9n);
  const storage = new Map([
    [slot0, 7n],
    [slot1, 9n],
  ]);
  const change = { address: alice, account: funded, storage, storageCleared: true };
  assert.deepEqual(state.changes().accounts, [change]);
});

test("changes holds deployed code only while an account has it", () => {
  const state = createWorldState(withStorage());
  const code = Uint8Array.of(0x60, 0);
  const start = state.snapshot();
  const codeHash = state.putCode(code);
  assert.equal(state.changes().codes.size, 0);
  state.setAccount(bob, { ...funded, codeHash });
  assert.deepEqual([...state.changes().codes], [[codeHash, code]]);
  assert.equal(state.code(codeHash), code);
  state.revertTo(start);
  assert.equal(state.changes().codes.size, 0);
  assert.throws(() => state.code(codeHash), { name: "InvariantError" });
});

test("finalizeTransaction deletes empty accounts that were touched, and only those", () => {
  const state = createWorldState(withStorage());
  state.touch(bob);
  state.touch(alice);
  state.finalizeTransaction({ selfDestructs: [], deleteEmptyTouched: false });
  assert.deepEqual(state.account(bob), EMPTY_ACCOUNT);
  state.finalizeTransaction({ selfDestructs: [], deleteEmptyTouched: true });
  assert.deepEqual(state.account(bob), EMPTY_ACCOUNT, "touches end with their transaction");
  state.touch(bob);
  state.finalizeTransaction({ selfDestructs: [], deleteEmptyTouched: true });
  assert.equal(state.account(bob), undefined);
  assert.ok(state.account(alice));
});

test("finalizeTransaction makes the changes of a transaction final: nothing before it is undone", () => {
  const state = createWorldState(withStorage());
  state.setAccount(bob, funded);
  state.setStorage(alice, slot0, 9n);
  state.finalizeTransaction({ selfDestructs: [], deleteEmptyTouched: true });
  const start = state.snapshot();
  state.setStorage(alice, slot0, 1n);
  state.deleteAccount(bob);
  state.revertTo(start);
  assert.deepEqual(state.account(bob), funded);
  assert.equal(state.storage(alice, slot0), 9n);
});

test("revertTo undoes touches, except that of the RIPEMD-160 precompile", () => {
  const state = createWorldState(withStorage());
  const start = state.snapshot();
  state.touch(bob);
  state.touch(ripemd);
  state.revertTo(start);
  state.finalizeTransaction({ selfDestructs: [], deleteEmptyTouched: true });
  assert.ok(state.account(bob));
  assert.equal(state.account(ripemd), undefined);
});

test("asReader can be the base of another world state", () => {
  const state = createWorldState(withStorage());
  state.setStorage(alice, slot1, 3n);
  const call = createWorldState(state.asReader());
  call.setStorage(alice, slot0, 0n);
  assert.equal(call.hasStorage(alice), true);
  call.setStorage(alice, slot1, 0n);
  assert.equal(call.hasStorage(alice), false);
  assert.equal(state.storage(alice, slot1), 3n);
  assert.deepEqual(call.changes().accounts[0]!.storage.size, 2);
});

test("slots of an account that does not exist are not looked for: a creation costs as much in a large state", () => {
  const base = withStorage();
  const nobody = addresses[4]!;
  const read: Address[] = [];
  const state = createWorldState({
    account: (address) => base.account(address),
    storage: (address, slot) => base.storage(address, slot),
    code: (hash) => base.code(hash),
    storageEntries(address) {
      read.push(address);
      return base.storageEntries(address);
    },
  });
  assert.equal(state.hasStorage(nobody), false);
  state.setAccount(nobody, funded);
  assert.equal(state.hasStorage(nobody), false);
  state.setStorage(nobody, slot0, 1n);
  assert.equal(state.hasStorage(nobody), true);
  assert.equal(state.hasStorage(alice), true);
  assert.deepEqual(read, [alice]);
});

test("readOfBase has what was read of the base, as it was", () => {
  const state = createWorldState(withStorage());
  const read = state.readOfBase();
  assert.equal(read.account(bob), undefined);
  state.setAccount(bob, funded);
  assert.equal(state.storage(alice, slot0), 7n);
  state.setStorage(alice, slot0, 8n);
  state.setStorage(alice, slot1, 9n);
  assert.equal(read.account(bob)?.balance, 0n);
  assert.deepEqual(
    [slot0, slot1].map((slot) => read.storage(alice, slot)),
    [7n, 0n],
  );
  state.deleteAccount(alice);
  assert.equal(read.account(alice)?.balance, 1n);
  assert.equal(read.storage(alice, slot0), 7n);
});

/** The same rules by copying everything at every snapshot. */
type Model = {
  accounts: Map<Address, Account>;
  storage: Map<string, bigint>;
  touched: Set<Address>;
};

const copy = (m: Model): Model => ({
  accounts: new Map(m.accounts),
  storage: new Map(m.storage),
  touched: new Set(m.touched),
});

const removeFrom = (model: Model, address: Address): void => {
  model.accounts.delete(address);
  for (const key of model.storage.keys()) if (key.startsWith(address)) model.storage.delete(key);
};

// Address 3, RIPEMD-160, has its own rule and its own test.
const anyAddress = fc.constantFrom(...addresses.filter((address) => address !== ripemd));
const anySlot = fc.constantFrom(...slots);
const small = fc.bigInt(0n, 2n);
const command = fc.oneof(
  fc.record({ do: fc.constant("set" as const), address: anyAddress, nonce: small, balance: small }),
  fc.record({ do: fc.constant("slot" as const), address: anyAddress, slot: anySlot, value: small }),
  fc.record({ do: fc.constant("delete" as const), address: anyAddress }),
  fc.record({ do: fc.constant("touch" as const), address: anyAddress }),
  fc.record({ do: fc.constant("snapshot" as const) }),
  fc.record({ do: fc.constant("revert" as const), back: fc.nat(3) }),
  fc.record({ do: fc.constant("look back" as const) }),
  fc.record({
    do: fc.constant("finalize" as const),
    selfDestructs: fc.subarray(addresses.slice(3)),
    deleteEmptyTouched: fc.boolean(),
  }),
);

test("createWorldState agrees with a model that copies everything at each snapshot", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      const base = createMemoryState(
        new Map([
          [addresses[0]!, { balance: 1n, storage: new Map([[slots[0]!, 1n]]) }],
          [addresses[1]!, { balance: 0n, storage: new Map([[slots[1]!, 2n]]) }],
          [addresses[3]!, { balance: 2n, storage: new Map(slots.map((slot) => [slot, 1n])) }],
        ]),
      );
      const state = createWorldState(base);
      let model: Model = { accounts: new Map(), storage: new Map(), touched: new Set() };
      for (const [address, account] of base.accounts()) {
        model.accounts.set(address, account);
        for (const [slot, value] of base.storageEntries(address)) model.storage.set(address + slot, value);
      }
      const snapshots: { readonly id: number; readonly model: Model }[] = [];
      let before = { reader: state.beforeTransaction(), model: copy(model) };
      for (const c of commands) {
        if (c.do === "set") {
          const account = { nonce: c.nonce, balance: c.balance, codeHash: EMPTY_CODE_HASH };
          state.setAccount(c.address, account);
          model.accounts.set(c.address, account);
          model.touched.add(c.address);
        } else if (c.do === "slot") {
          // Only accounts that exist are ever written to.
          if (!model.accounts.has(c.address)) continue;
          state.setStorage(c.address, c.slot, c.value);
          model.storage.set(c.address + c.slot, c.value);
        } else if (c.do === "delete") {
          state.deleteAccount(c.address);
          removeFrom(model, c.address);
          model.touched.add(c.address);
        } else if (c.do === "touch") {
          state.touch(c.address);
          model.touched.add(c.address);
        } else if (c.do === "snapshot") {
          snapshots.push({ id: state.snapshot(), model: copy(model) });
        } else if (c.do === "look back") {
          agree(before.reader, before.model);
        } else if (c.do === "revert") {
          const target = snapshots.at(-1 - c.back);
          if (target === undefined) continue;
          snapshots.length -= c.back + 1;
          state.revertTo(target.id);
          model = copy(target.model);
        } else {
          state.finalizeTransaction(c);
          for (const address of c.selfDestructs) removeFrom(model, address);
          for (const address of model.touched) {
            const account = model.accounts.get(address);
            if (c.deleteEmptyTouched && account && isEmptyAccount(account)) removeFrom(model, address);
          }
          model.touched.clear();
          snapshots.length = 0;
          agree(before.reader, before.model);
          before = { reader: state.beforeTransaction(), model: copy(model) };
        }
      }
      agree(state.asReader(), model);
      agree(before.reader, before.model);
      assert.deepEqual(
        addresses.map((address) => state.hasStorage(address)),
        addresses.map((address) => [...model.storage].some(([key, value]) => key.startsWith(address) && value !== 0n)),
      );
      const changes = state.changes();
      for (const change of changes.accounts) {
        const differing = [...change.storage].filter(([slot, value]) => base.storage(change.address, slot) !== value);
        const before = base.account(change.address);
        assert.ok(differing.length > 0 || !sameFields(before, change.account ?? undefined));
        if (!change.storageCleared) assert.equal(differing.length, change.storage.size);
      }
      base.apply(changes);
      agree(base, model);
    }),
    { numRuns: 1500 },
  );
});

function sameFields(a: Account | undefined, b: Account | undefined): boolean {
  return a?.balance === b?.balance && a?.nonce === b?.nonce && a?.codeHash === b?.codeHash;
}

function agree(reader: StateReader, model: Model): void {
  for (const address of addresses) {
    assert.deepEqual(reader.account(address), model.accounts.get(address));
    for (const slot of slots) {
      assert.equal(reader.storage(address, slot), model.storage.get(address + slot) ?? 0n);
    }
    const expected = [...model.storage].filter(([k, v]) => k.startsWith(address) && v !== 0n);
    assert.deepEqual(
      new Map(reader.storageEntries(address)),
      new Map(expected.map(([key, value]) => [key.slice(42) as Hash, value])),
    );
  }
}
