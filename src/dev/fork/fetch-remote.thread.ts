import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { serveBlockingThread } from "../../base/threads/blocking-thread.ts";
import type { Header } from "../../base/types/header.ts";
import { planReadsOf } from "./choose-fork-point.ts";
import { fetchRemoteCalls, type RemoteAccess } from "./fetch-remote-calls.ts";
import type { RemoteCall } from "./remote-calls.ts";

/** What the thread is started with. */
export type FetchRemoteData = {
  readonly urls: readonly string[];
  /** The forked block, and whether its state is proven under its root. */
  readonly block: { readonly chainId: bigint; readonly header: Header };
  readonly isVerified: boolean;
  readonly access?: RemoteAccess | undefined;
};

/** What the thread does for its starter. */
export type FetchRemoteHandlers = ReturnType<typeof handlersOf>;

serveBlockingThread(handlersOf, fatalTimers);

function handlersOf({ urls, block, isVerified, access }: FetchRemoteData) {
  const nodes = { urls, access, planReads: planReadsOf(block, isVerified) };
  const call = fetchRemoteCalls(nodes, fatalTimers);
  return {
    fetch: ({ calls, msMax }: { readonly calls: readonly RemoteCall[]; readonly msMax: number }) =>
      call(calls, { msMax }),
    /** Asks other nodes from now on. */
    setUrls(urls: readonly string[]) {
      nodes.urls = urls;
    },
  };
}
