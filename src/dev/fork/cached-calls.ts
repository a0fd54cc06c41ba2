import type { ForkCache } from "./fork-cache.ts";
import type { RemoteCall, RemoteCalls, SyncRemoteCalls } from "./remote-calls.ts";

/**
 * Calls what `cache` does not know. `call` has checked what it answers, so nothing else is ever stored. A null may be a block that a load balancer's other
 * node has: it is asked for again.
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
