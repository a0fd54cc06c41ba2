import {
  BEACON_ROOTS_ADDRESS,
  HISTORY_STORAGE_ADDRESS,
  REQUEST_CONTRACTS,
  SYSTEM_ADDRESS,
} from "../../base/params/gas.ts";
import { type Hardfork, RULES_AT } from "../../base/params/hardforks.ts";
import { ZERO_ADDRESS } from "../../base/primitives/address.ts";
import { type Hash, hashFromBigint } from "../../base/primitives/hash.ts";
import { toQuantity } from "../../base/primitives/quantity.ts";
import type { Header } from "../../base/types/header.ts";
import type { ForkCache } from "./fork-cache.ts";
import type { RemoteCall, RemoteCalls, SyncRemoteCalls } from "./remote-calls.ts";
import { accountReads } from "./remote-state.ts";

/** Slots of a ring buffer that are read with the first one, for the next blocks or seconds. */
const AHEAD = 32n;
/** EIP-2935 */
const HISTORY_LENGTH = 8191n;
/** EIP-4788 has timestamps in the first so many slots and roots in as many after them. */
const BEACON_ROOTS_LENGTH = 8191n;
/** Excess, count, head and tail of a request queue (EIP-7002, EIP-7251, EIP-8282). */
const QUEUE_SLOTS = 4n;
const QUEUES: ReadonlySet<string> = new Set(REQUEST_CONTRACTS.map(({ address }) => address));

/** System contracts are called in every block, so their slots would cost every block some round trips: they are read many at a time. */
export function readAhead(call: SyncRemoteCalls, cache: ForkCache): SyncRemoteCalls {
  return (calls) => {
    const more = calls.flatMap(companionsOf).filter((each) => cache.get(each) === undefined);
    const results = call([...calls, ...more]);
    cache.add(more.map((each, index) => [each, results[calls.length + index]]));
    return results.slice(0, calls.length);
  };
}

/**
 * What the first block after the fork reads besides its transactions: accounts and slots of its system calls.
 * @param timestamp when it will be made, Unix seconds
 * @param hardfork its rules
 */
export function firstReads({ number }: Pick<Header, "number">, timestamp: number, hardfork: Hardfork): RemoteCall[] {
  const block = toQuantity(number);
  const slots: readonly (readonly [string, bigint])[] = [
    [HISTORY_STORAGE_ADDRESS, BigInt(number) % HISTORY_LENGTH],
    [BEACON_ROOTS_ADDRESS, BigInt(timestamp) % BEACON_ROOTS_LENGTH],
    ...REQUEST_CONTRACTS.filter(({ since }) => RULES_AT[hardfork][since]).map(({ address }) => [address, 0n] as const),
  ];
  const ofSlots = slots.flatMap(([address, slot]) => {
    const read = { method: "eth_getStorageAt", params: [address, hashFromBigint(slot), block] };
    return [read, ...companionsOf(read)];
  });
  const addresses = [SYSTEM_ADDRESS, ZERO_ADDRESS, ...slots.map(([address]) => address)];
  return [...addresses.flatMap((address) => accountReads(address, block)), ...ofSlots];
}

/** What is read soon after `call`. */
function companionsOf({ method, params }: RemoteCall): RemoteCall[] {
  if (method !== "eth_getStorageAt") return [];
  const [address, slot, block] = params as readonly [string, Hash, string];
  return slotsAfter(address, BigInt(slot)).map((each) => ({
    method,
    params: [address, hashFromBigint(each), block],
  }));
}

function slotsAfter(address: string, slot: bigint): readonly bigint[] {
  switch (address) {
    case HISTORY_STORAGE_ADDRESS:
      return range(slot + 1n, slot + AHEAD);
    case BEACON_ROOTS_ADDRESS: {
      const first = slot % BEACON_ROOTS_LENGTH;
      const both = [first, first + BEACON_ROOTS_LENGTH];
      return both.flatMap((each) => range(each, each + AHEAD)).filter((each) => each !== slot);
    }
    default:
      return QUEUES.has(address) ? range(0n, QUEUE_SLOTS).filter((each) => each !== slot) : [];
  }
}

function range(first: bigint, end: bigint): bigint[] {
  return Array.from({ length: Number(end - first) }, (_, index) => first + BigInt(index));
}

/**
 * Calls the node for results that `cache` lacks. `call` has checked the answers, so only valid ones are stored. A null may be a block that
 * a load balancer's other node has: it is requested again.
 */
export function cachedCalls(call: RemoteCalls, cache: ForkCache): RemoteCalls {
  return async (calls, options) => {
    const unknown = unknownOf(calls, cache);
    return merge(calls, unknown, unknown.length > 0 ? await call(unknown, options) : [], cache);
  };
}

export function cachedSyncCalls(call: SyncRemoteCalls, cache: ForkCache): SyncRemoteCalls {
  return (calls) => {
    const unknown = unknownOf(calls, cache);
    return merge(calls, unknown, unknown.length > 0 ? call(unknown) : [], cache);
  };
}

function unknownOf(calls: readonly RemoteCall[], cache: ForkCache): RemoteCall[] {
  return calls.filter((each) => cache.get(each) === undefined);
}

function merge(
  calls: readonly RemoteCall[],
  fetched: readonly RemoteCall[],
  results: readonly unknown[],
  cache: ForkCache,
): readonly unknown[] {
  const known = fetched.map((each, index) => [each, results[index]] as const);
  cache.add(known.filter(([, result]) => result !== null));
  const byCall = new Map(known);
  return calls.map((each) => (byCall.has(each) ? byCall.get(each) : cache.get(each)!.result));
}
