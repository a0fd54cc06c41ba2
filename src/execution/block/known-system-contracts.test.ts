import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { SYSTEM_CONTRACTS } from "../../config/genesis/predeploys.ts";
import { createEvm } from "../../evm/engine.ts";
import { testBlock } from "../../evm/testing/environment.ts";
import type { GenesisAccount } from "../../params/genesis.ts";
import type { Address } from "../../primitives/address.ts";
import { concatBytes, EMPTY_BYTES } from "../../primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../../primitives/hash.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import type { StateReader } from "../../state/reader.ts";
import { createMemoryState } from "../../state/testing/memory-state.ts";
import { createWorldState } from "../../state/world-state.ts";
import { callKnownContract } from "./known-system-contracts.ts";
import {
  storeAncestry,
  takeConsolidationRequests,
  takeWithdrawalRequests,
} from "./system-calls.ts";

type Slots = readonly (readonly [slot: number, value: bigint])[];
type Input = {
  readonly slots: Slots;
  readonly timestamp: number;
  readonly number: number;
  readonly parentHash: Hash;
  readonly beaconRoot: Hash;
};

const evm = createEvm();
const addresses = SYSTEM_CONTRACTS.map(({ address }) => address as Address);
/** One byte more, which is never reached: the same contracts with unknown hashes. */
const UNREACHED = Uint8Array.of(0);

/** The same state; `reads` has what was read of it. */
function watched(source: StateReader) {
  const reads = new Set<string>();
  const state: StateReader = {
    account(address) {
      reads.add(address);
      return source.account(address);
    },
    storage(address, slot) {
      reads.add(`${address} ${slot}`);
      return source.storage(address, slot);
    },
    code: (hash) => source.code(hash),
    storageEntries: (address) => source.storageEntries(address),
  };
  return { state, reads };
}

/** Changes, return values and reads of the four system calls. @param suffix follows the code of each contract */
function systemCalls(suffix: Uint8Array, input: Input) {
  const storage = () =>
    new Map(input.slots.map(([slot, value]) => [hashFromBigint(BigInt(slot)), value] as const));
  const alloc = new Map<Address, GenesisAccount>(
    SYSTEM_CONTRACTS.map(({ address, code }) => [
      address as Address,
      {
        ...{ balance: 0n, nonce: 1n, code: concatBytes(hexToBytes(code), suffix) },
        storage: storage(),
      },
    ]),
  );
  const { state: base, reads } = watched(createMemoryState(alloc));
  const state = createWorldState(base);
  const block = testBlock({ timestamp: input.timestamp, number: input.number });
  const environment = { evm, block, state };
  const { parentHash, beaconRoot: parentBeaconBlockRoot } = input;
  storeAncestry({ parentHash, parentBeaconBlockRoot }, environment);
  return {
    withdrawals: takeWithdrawalRequests(environment),
    consolidations: takeConsolidationRequests(environment),
    reads: [...reads].sort(),
    storage: state
      .changes()
      .accounts.map(({ address, storage }) => [
        address,
        [...storage].sort(([a], [b]) => (a < b ? -1 : 1)),
      ]),
  };
}

const word = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const small = fc.bigInt({ min: 0n, max: 3n });
const anInput: fc.Arbitrary<Input> = fc.record({
  slots: fc.uniqueArray(
    fc.oneof(
      fc.tuple(fc.integer({ min: 0, max: 3 }), small),
      fc.tuple(fc.integer({ min: 0, max: 20_000 }), word),
    ),
    { selector: ([slot]) => slot, maxLength: 12 },
  ),
  timestamp: fc.oneof(fc.integer({ min: 0, max: 9_000 }), fc.integer({ min: 0, max: 2 ** 40 })),
  number: fc.integer({ min: 1, max: 100_000 }),
  parentHash: word.map(hashFromBigint),
  beaconRoot: fc.oneof(fc.constant(0n), word).map(hashFromBigint),
});

test("a contract with known code is changed as by the EVM, reads and returns the same", () => {
  fc.assert(
    fc.property(anInput, (input) => {
      assert.deepEqual(systemCalls(EMPTY_BYTES, input), systemCalls(UNREACHED, input));
    }),
    { numRuns: 200 },
  );
});

test("the known contracts are those of a dev chain's genesis, and a queue that is not empty is left to the EVM", () => {
  const call = (index: number, slots: Slots, code = SYSTEM_CONTRACTS[index]!.code) => {
    const to = addresses[index]!;
    const bytes = hexToBytes(code);
    const storage = new Map(
      slots.map(([slot, value]) => [hashFromBigint(BigInt(slot)), value] as const),
    );
    const base = createMemoryState(
      new Map([[to, { balance: 0n, nonce: 1n, code: bytes, storage }]]),
    );
    const state = createWorldState(base);
    const data = new Uint8Array(32);
    return callKnownContract(keccak256Hash(bytes), { to, data, block: testBlock(), state });
  };
  for (const index of SYSTEM_CONTRACTS.keys()) assert.deepEqual(call(index, []), EMPTY_BYTES);
  for (const slot of [0, 1, 2, 3]) {
    assert.equal(call(2, [[slot, 1n]]), undefined);
    assert.equal(call(3, [[slot, 1n]]), undefined);
  }
  assert.equal(call(0, [], "0x5f5ff3"), undefined);
});
