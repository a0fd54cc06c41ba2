import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { type Address, addressFromWord } from "../../base/primitives/address.ts";
import { type Hash, hashFromBigint } from "../../base/primitives/hash.ts";
import { toQuantity } from "../../base/primitives/quantity.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import type { AccountChange, StateReader } from "../../evm/state/reader.ts";
import { ForkCache } from "./fork-cache.ts";
import { ForkedState } from "./forked-state.ts";
import type { RemoteCall } from "./remote-calls.ts";
import { RemoteState } from "./remote-state.ts";

const ADDRESSES = [1n, 2n, 3n].map((word) => addressFromWord(word));
const BYTES_MAX = 1 << 20;
const NO_CACHE = { get: () => undefined };
const SLOTS = [0n, 1n, 2n].map((word) => hashFromBigint(word));

/** Account 1 has slots and balance, 2 a balance, 3 does not exist. */
const REMOTE_BALANCES: Readonly<Record<string, bigint>> = {
  [ADDRESSES[0]!]: 100n,
  [ADDRESSES[1]!]: 200n,
};
const remoteSlot = (address: Address, slot: Hash) => (address === ADDRESSES[0] ? BigInt(slot) + 10n : 0n);

function remoteResult({ method, params }: RemoteCall): string {
  const [address, slot] = params as [Address, Hash];
  if (method === "eth_getBalance") return toQuantity(REMOTE_BALANCES[address] ?? 0n);
  if (method === "eth_getTransactionCount") return "0x0";
  if (method === "eth_getCode") return "0x";
  return hashFromBigint(remoteSlot(address, slot));
}

const remoteStateOf = (resultOf: (call: RemoteCall) => unknown) =>
  new RemoteState({ block: 7, bytesMax: BYTES_MAX }, { call: (calls) => calls.map(resultOf), cache: NO_CACHE });

type Rows = { readonly balances: Map<Address, bigint>; readonly slots: Map<string, bigint> };
const keyOf = (address: Address, slot: Hash) => `${address}${slot}`;
const copyOf = ({ balances, slots }: Rows): Rows => ({
  balances: new Map(balances),
  slots: new Map(slots),
});

function readerOf({ balances, slots }: Rows): StateReader {
  return {
    account(address) {
      const balance = balances.get(address);
      return balance === undefined ? undefined : { nonce: 0n, balance, codeHash: EMPTY_CODE_HASH };
    },
    storage: (address, slot) => slots.get(keyOf(address, slot)) ?? 0n,
    code: () => assert.fail("no code"),
    storageEntries: () => [],
  };
}

/** Changes `rows` as a store does; absent rows are deleted ones. */
function applyTo({ balances, slots }: Rows, change: AccountChange): void {
  const { address, account, storage, storageCleared } = change;
  if (account === null) balances.delete(address);
  else balances.set(address, account.balance);
  if (storageCleared || account === null) {
    for (const key of slots.keys()) if (key.startsWith(address)) slots.delete(key);
  }
  for (const [slot, value] of storage) {
    if (value === 0n) slots.delete(keyOf(address, slot));
    else slots.set(keyOf(address, slot), value);
  }
}

const change = fc.record({
  address: fc.constantFrom(...ADDRESSES),
  balance: fc.option(fc.bigInt({ min: 1n, max: 9n })),
  slots: fc.array(fc.tuple(fc.constantFrom(...SLOTS), fc.bigInt({ min: 0n, max: 3n })), {
    maxLength: 3,
  }),
  storageCleared: fc.boolean(),
});

describe("ForkedState", () => {
  test("every state since the fork equals that of a chain that had all of the remote state, also after rollbacks", () => {
    const steps = fc.array(
      fc.oneof(
        { weight: 4, arbitrary: fc.record({ change }) },
        { weight: 1, arbitrary: fc.record({ back: fc.nat(3) }) },
      ),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(steps, (script) => {
        const remote = remoteStateOf(remoteResult);
        const forked = new ForkedState(remote);
        const whole: Rows = { balances: new Map(), slots: new Map() };
        for (const address of ADDRESSES) {
          const balance = REMOTE_BALANCES[address];
          if (balance !== undefined) whole.balances.set(address, balance);
          for (const slot of SLOTS) {
            const value = remoteSlot(address, slot);
            if (value !== 0n) whole.slots.set(keyOf(address, slot), value);
          }
        }
        /** By block since the fork: what the store has, and what it should look like. */
        const blocks = [{ stored: { balances: new Map(), slots: new Map() } as Rows, whole }];
        for (const step of script) {
          if ("back" in step) {
            blocks.length = Math.max(1, blocks.length - step.back);
            forked.dropAfter(7 + blocks.length - 1);
          } else {
            const { address, balance, slots, storageCleared } = step.change;
            const account = balance === null ? null : { nonce: 0n, balance, codeHash: EMPTY_CODE_HASH };
            const isGone = account === null;
            const storage = new Map(isGone ? [] : slots);
            const accountChange = { address, account, storage, storageCleared };
            const last = blocks.at(-1)!;
            const next = { stored: copyOf(last.stored), whole: copyOf(last.whole) };
            applyTo(next.stored, accountChange);
            applyTo(next.whole, accountChange);
            blocks.push(next);
            const number = 7 + blocks.length - 1;
            forked.apply(number, { accounts: [accountChange], codes: new Map() });
          }
          for (const [index, { stored, whole: expected }] of blocks.entries()) {
            const state = forked.under(7 + index, readerOf(stored));
            const wanted = readerOf(expected);
            for (const address of ADDRESSES) {
              assert.deepEqual(state.account(address), wanted.account(address));
              for (const slot of SLOTS) {
                assert.equal(state.storage(address, slot), wanted.storage(address, slot));
              }
            }
          }
        }
      }),
    );
  });

  test("what is no number or no bytes is an error, not a zero", () => {
    for (const bad of [null, "0x", "", "12", 12, "0xzz"]) {
      const remote = remoteStateOf(() => bad);
      const code = "FORK_REMOTE_FAILED";
      assert.throws(() => remote.account(ADDRESSES[0]!), { code });
      assert.throws(() => remote.storage(ADDRESSES[0]!, SLOTS[0]!), { code });
    }
  });
});

describe("ForkCache", () => {
  test("has what was added after a restart, and ignores a line that was cut", () => {
    const directory = mkdtempSync(join(tmpdir(), "evmint-fork-"));
    try {
      const path = join(directory, "cache", "1-7.jsonl");
      const [first, second] = [0, 1].map((id) => ({ method: "m", params: [id] }));
      new ForkCache(path, BYTES_MAX).add([
        [first!, { a: [1] }],
        [second!, "0x"],
      ]);
      const whole = readFileSync(path, "utf8");
      writeFileSync(path, whole.slice(0, -3));
      const cut = new ForkCache(path, BYTES_MAX);
      assert.deepEqual(cut.get(first!), { result: { a: [1] } });
      assert.equal(cut.get(second!), undefined);
      cut.add([[second!, "0x"]]);
      appendFileSync(path, "not json\n");
      assert.deepEqual(new ForkCache(path, BYTES_MAX).get(second!), { result: "0x" });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
