import assert from "node:assert/strict";
import { test } from "node:test";
import { account, countingReads } from "../../../../test/support/evm/execution/factories.ts";
import { testBlock } from "../../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../../test/support/evm/state/memory-state.ts";
import fc from "../../../../test/support/fast-check.ts";
import {
  BEACON_ROOTS_ADDRESS,
  CONSOLIDATION_REQUEST_ADDRESS,
  HISTORY_STORAGE_ADDRESS,
  WITHDRAWAL_REQUEST_ADDRESS,
} from "../../../base/params/gas.ts";
import type { GenesisAccount } from "../../../base/params/genesis-account.ts";
import { type Address, parseAddress } from "../../../base/primitives/address.ts";
import { type Hash, hashFromBigint } from "../../../base/primitives/hash.ts";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import { SYSTEM_CONTRACTS } from "../../../node/config/predeploys.ts";
import { createEvm } from "../../machine/engine.ts";
import type { BlockContext, Evm } from "../../machine/evm.ts";
import { createWorldState } from "../../state/world-state.ts";
import { storeAncestry, takeRequests } from "./system-calls.ts";

const evm = createEvm();

type Slots = ReadonlyMap<Address, ReadonlyMap<bigint, bigint>>;

/** An account that is empty and was touched goes with the first of the calls. */
const EMPTY = `0x${"e0".repeat(20)}` as Address;

/** All that the calls of a block leave behind: changes of slots to what they are in the base are no difference. */
function outcomeOf(
  slots: Slots,
  block: BlockContext,
  { parentHash, parentBeaconBlockRoot }: { readonly parentHash: Hash; readonly parentBeaconBlockRoot: Hash },
  options: { readonly executesKnownCode: boolean; readonly suffix?: string },
) {
  const alloc = new Map<Address, GenesisAccount>([[EMPTY, account()]]);
  for (const { address, code } of SYSTEM_CONTRACTS) {
    const of = parseAddress(address);
    const storage = new Map([...(slots.get(of) ?? [])].map(([slot, value]) => [hashFromBigint(slot), value]));
    alloc.set(of, { ...account({ nonce: 1n }), code: hexToBytes(`${code}${options.suffix ?? ""}`), storage });
  }
  const base = createMemoryState(alloc);
  const { state: counted, reads } = countingReads(base);
  const state = createWorldState(counted);
  let executions = 0;
  const counting: Evm = {
    ...evm,
    execute: (...call) => {
      executions++;
      return evm.execute(...call);
    },
  };
  const environment = { evm: counting, block, state, executesKnownCode: options.executesKnownCode };
  state.touch(EMPTY);
  storeAncestry({ parentHash, parentBeaconBlockRoot }, environment);
  const requests = takeRequests(environment, (run) => run(undefined));
  const { accounts, codes } = state.changes();
  const changed = accounts.map((change) => ({
    ...change,
    storage: new Map([...change.storage].filter(([slot, value]) => base.storage(change.address, slot) !== value)),
  }));
  const changes = changed.filter(({ account, storage }) => account === null || storage.size > 0);
  return { outcome: { changes, codes, requests }, slotsRead: reads.slots, executions };
}

const word = fc.oneof(
  fc.bigInt({ min: 0n, max: 3n }),
  fc.constant(2n ** 256n - 1n),
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
);
const queue = fc.oneof(
  { weight: 2, arbitrary: fc.constant([0n, 0n, 0n, 0n]) },
  { weight: 1, arbitrary: fc.tuple(word, fc.bigInt(0n, 20n), fc.constant(0n), fc.bigInt(0n, 3n)) },
);
const scenario = fc.record({
  number: fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
  timestamp: fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
  timestampWord: fc.option(word, { nil: undefined }),
  parentHash: word.map(hashFromBigint),
  parentBeaconBlockRoot: word.map(hashFromBigint),
  /** The slots that are to be written have their new values already. */
  isRepeated: fc.boolean(),
  withdrawals: queue,
  consolidations: queue,
});

function slotsOf({
  number,
  timestamp,
  timestampWord,
  parentHash,
  parentBeaconBlockRoot,
  isRepeated,
  withdrawals,
  consolidations,
}: typeof scenario extends fc.Arbitrary<infer T> ? T : never): Slots {
  const time = timestampWord ?? BigInt(timestamp);
  const ring = new Map<Address, ReadonlyMap<bigint, bigint>>();
  if (isRepeated) {
    ring.set(HISTORY_STORAGE_ADDRESS, new Map([[BigInt(number - 1) % 8191n, BigInt(parentHash)]]));
    const times: [bigint, bigint][] = [
      [time % 8191n, time],
      [(time % 8191n) + 8191n, BigInt(parentBeaconBlockRoot)],
    ];
    ring.set(BEACON_ROOTS_ADDRESS, new Map(times));
  }
  const ofQueue = (values: readonly bigint[]) => new Map(values.map((value, slot) => [BigInt(slot), value]));
  ring.set(WITHDRAWAL_REQUEST_ADDRESS, ofQueue(withdrawals));
  ring.set(CONSOLIDATION_REQUEST_ADDRESS, ofQueue(consolidations));
  return ring;
}

test("KNOWN_CODES make the changes of the executed codes, read no more slots and take the same requests", () => {
  let cases = 0;
  let notExecuted = 0;
  fc.assert(
    fc.property(scenario, (of) => {
      cases++;
      const { number, timestamp, timestampWord } = of;
      const block = testBlock({ number, timestamp, ...(timestampWord !== undefined && { timestampWord }) });
      const slots = slotsOf(of);
      const known = outcomeOf(slots, block, of, { executesKnownCode: false });
      const executed = outcomeOf(slots, block, of, { executesKnownCode: true });
      assert.deepEqual(known.outcome, executed.outcome);
      assert.ok(known.slotsRead <= executed.slotsRead);
      assert.equal(executed.executions, 4);
      notExecuted += 4 - known.executions;
    }),
    { numRuns: 300 },
  );
  assert.ok(notExecuted > (7 / 3) * cases, `${notExecuted} in ${cases} cases`);
});

test("KNOWN_CODES are found by hash: replaced code is executed", () => {
  const ancestry = { parentHash: hashFromBigint(7n), parentBeaconBlockRoot: hashFromBigint(8n) };
  const block = testBlock({ number: 5 });
  const known = outcomeOf(new Map(), block, ancestry, { executesKnownCode: false });
  // A STOP after the last byte does the same under another hash.
  const replaced = outcomeOf(new Map(), block, ancestry, { executesKnownCode: false, suffix: "00" });
  assert.deepEqual([known.executions, replaced.executions], [0, 4]);
  assert.deepEqual(
    replaced.outcome.changes.map(({ address, storage }) => [address, storage]),
    known.outcome.changes.map(({ address, storage }) => [address, storage]),
  );
});
