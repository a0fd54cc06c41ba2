import type { RemoteCall, RemoteCalls } from "./remote-calls.ts";
import { accountReads } from "./remote-state.ts";

/** A message call as JSON-RPC has it. */
export type PrefetchedCall = Readonly<
  Partial<Record<"from" | "to" | "data" | "input" | "value" | "accessList", unknown>>
>;

type AccessList = readonly {
  readonly address: string;
  readonly storageKeys: readonly string[];
}[];

/** Calls that are not prefetched again; beyond it they are. */
const REMEMBERED_MAX = 10_000;
/** A call that touches more reads the rest when it needs it. */
const READS_MAX = 1_000;
/** Executions ahead of a call: each one gets as far as the reads of those before it allow. */
const EXECUTIONS_MAX = 16;

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const SLOT = /^0x[0-9a-fA-F]{64}$/;

/** The access list of a request, as far as it is one. */
function givenList(list: unknown): AccessList {
  if (!Array.isArray(list)) return [];
  return (list as (Partial<AccessList[number]> | null)[]).flatMap((entry) => {
    const { address, storageKeys } = entry ?? {};
    if (typeof address !== "string" || !ADDRESS.test(address)) return [];
    const slots = Array.isArray(storageKeys) ? (storageKeys as unknown[]) : [];
    const isSlot = (slot: unknown): slot is string => typeof slot === "string" && SLOT.test(slot);
    return { address, storageKeys: slots.filter(isSlot) };
  });
}

/**
 * Reads what a call touches of the remote chain before it runs, in few requests, while the chain's thread is free: first the accounts that
 * it names and the access list that the remote node computes, then what is in that list; then what an execution here misses,
 * until one misses nothing: the remote node does not know the contracts of this chain. A hint: what cannot be read now is an error of the
 * call that needs it.
 * @param call stores results where the state finds them
 * @param block QUANTITY of the forked block
 * @returns a function of the call and the reads that its execution misses
 */
export function createPrefetch(
  call: RemoteCalls,
  block: string,
): (request: PrefetchedCall, missed: () => readonly RemoteCall[]) => Promise<void> {
  const remembered = new Set<string>();

  const readsOfAccount = (address: string) => accountReads(address.toLowerCase(), block);

  function readsOf(list: AccessList): RemoteCall[] {
    const reads = list.flatMap(({ address, storageKeys }) => [
      ...readsOfAccount(address),
      ...storageKeys.map((slot) => ({
        method: "eth_getStorageAt",
        params: [address.toLowerCase(), slot.toLowerCase(), block],
      })),
    ]);
    return reads.slice(0, READS_MAX);
  }

  async function readMissed(missed: () => readonly RemoteCall[]): Promise<void> {
    let count = 0;
    for (let executions = 0; executions < EXECUTIONS_MAX && count < READS_MAX; executions++) {
      const reads = missed().slice(0, READS_MAX - count);
      if (reads.length === 0) return;
      count += reads.length;
      await call(reads);
    }
  }

  return async ({ from, to, data, input = data, value, accessList = [] }, missed) => {
    const key = JSON.stringify([from, to, typeof input === "string" ? input.slice(0, 10) : null]);
    if (remembered.has(key)) return;
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.add(key);
    // An invalid address is an error of the call.
    const named = [from, to].filter(
      (address): address is string => typeof address === "string" && ADDRESS.test(address),
    );
    const given = givenList(accessList);
    const request = { from, to, data: input, value };
    // A transfer of ether touches only the accounts it names.
    const isTransfer = input === undefined || input === "0x";
    const [, computed] = await Promise.allSettled([
      call([...named.flatMap(readsOfAccount), ...readsOf(given)]),
      isTransfer ? [] : call([{ method: "eth_createAccessList", params: [request, block] }]),
    ]);
    const [result] = computed.status === "fulfilled" ? computed.value : [];
    const list = (result as { readonly accessList?: AccessList } | undefined)?.accessList;
    if (list !== undefined) await call(readsOf(list)).catch(() => {});
    if (!isTransfer) await readMissed(missed).catch(() => {});
  };
}
