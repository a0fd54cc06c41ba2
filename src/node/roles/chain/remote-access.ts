import type { RemoteAccess } from "../../../dev/fork/fetch-remote-calls.ts";
import type { Config } from "../../config/config.ts";

/** How to request data of a remote chain, by the settings. */
export function remoteAccessOf({ devChain }: Pick<Config, "devChain">): RemoteAccess {
  const { forkUrls, forkHeaders, forkTimeoutMs, forkRetries, forkRetryPauseMs, forkComputeUnits } = devChain;
  return {
    headers: Object.fromEntries(forkHeaders),
    headersFor: forkUrls,
    timeoutMs: forkTimeoutMs ?? undefined,
    retries: forkRetries ?? undefined,
    pauseMs: forkRetryPauseMs ?? undefined,
    computeUnitsPerSecond: forkComputeUnits ?? undefined,
  };
}
