import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import { type Address, addressToBytes } from "../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { modifiedAccounts } from "./modified-accounts.ts";
import { dumpState } from "./state-dump.ts";

/** What ends a search in these tests. */
class Stopped extends Error {}

const addressOf = (index: number) => `0x${index.toString(16).padStart(40, "0")}` as Address;

test("dumpState stops a search over more addresses than there is time for", async () => {
  let read = 0;
  function* addressesFrom() {
    for (; ; read++) {
      const key = addressToBytes(addressOf(read));
      yield { key, hash: keccak256(key) };
    }
  }
  const source = {
    state: createMemoryState(),
    keys: { addressesFrom, unmergedAddresses: () => [] },
    storageRootOf: () => undefined,
  };
  let checks = 0;
  const options = {
    start: EMPTY_BYTES,
    accountsMax: 1,
    withCode: false,
    withStorage: false,
    take() {},
    resumed() {
      if (++checks === 3) throw new Stopped();
    },
  };
  await assert.rejects(dumpState(source, options), Stopped);
  assert.ok(read < 20_000, `${read}`);
});

test("modifiedAccounts stops a range of too many blocks or too many slots", async () => {
  const storage = new Map([[hashFromBigint(1n), 1n]]);
  const states = {
    stateAt: () => createMemoryState(),
    changes: () => ({ accounts: [{ address: addressOf(1), storage }], codes: new Map() }) as never,
  };
  let blocks = 0;
  const late = {
    take() {},
    resumed() {
      if (++blocks === 5) throw new Stopped();
    },
  };
  await assert.rejects(modifiedAccounts(states, 0, 1_000_000, late), Stopped);
  assert.equal(blocks, 5);
  let chars = 0;
  const large = {
    resumed() {},
    take(more: number) {
      chars += more;
      if (chars > 1_000) throw new Stopped();
    },
  };
  await assert.rejects(modifiedAccounts(states, 0, 1_000_000, large), Stopped);
});
