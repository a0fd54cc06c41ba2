import type { Logger } from "../telemetry/logger.ts";
import { type BrowserNode, createBrowserNode } from "./browser-node.ts";
import { startLocalHost } from "./local-host.ts";
import type { HostOptions, NodeHost, ProviderMessage } from "./node-host.ts";
import { BrowserProvider } from "./provider.ts";
import { UnsupportedInBrowserError } from "./unsupported.ts";
import { isDedicatedWorker } from "./web.ts";
import { startRemoteHost } from "./worker/remote-host.ts";

export type BrowserNodeOptions = Omit<HostOptions, "home" | "files"> & {
  /** Name of the chain in the origin's private file system. Left out: a dev chain in memory that is gone when the node stops. */
  readonly home?: string | undefined;
  /** Files of a new home, as `exportHome` gives them or from a folder of `evmintd`. */
  readonly files?: HostOptions["files"];
  /** Runs the node in a dedicated worker, so that it never blocks the page. Default: where `home` is given, on a page. */
  readonly worker?: boolean;
  /** For a node in this thread. */
  readonly log?: Logger;
};

/**
 * A node in a browser, for programs that are pages or workers.
 * @throws UnsupportedInBrowserError, LockedError while another tab has the chain open, and what `createNode` of Node throws
 */
export async function createNode(options: BrowserNodeOptions = {}): Promise<BrowserNode> {
  const { worker = options.home !== undefined && !isDedicatedWorker(), ...hostOptions } = options;
  const provider = new BrowserProvider();
  const deliver = (message: ProviderMessage) => provider.deliver(message);
  const host = worker
    ? await startInWorker(hostOptions, deliver)
    : await startLocalHost(hostOptions, deliver);
  provider.connect(host);
  let stopping: Promise<void> | undefined;
  const stop = () => {
    provider.connect(undefined);
    stopping ??= host.stop();
    return stopping;
  };
  return createBrowserNode({ ...host, stop }, provider);
}

async function startInWorker(
  { log, ...options }: BrowserNodeOptions,
  deliver: (message: ProviderMessage) => void,
): Promise<NodeHost> {
  if (log !== undefined) throw new UnsupportedInBrowserError("a log of a worker");
  return startRemoteHost(options, deliver);
}
