import type { Logger } from "../../base/telemetry/logger.ts";
import type { StopsWhenDisposed } from "../../node/adapters/async-disposable.ts";
import type { ProviderMessage, ProviderRequest } from "../../node/adapters/provider-types.ts";
import type { DevAccount } from "../../node/keystore/dev-accounts.ts";
import { createDevControl, type DevControl } from "../../node/roles/dev/dev-control.ts";
import { createRpcClient } from "../../node/roles/rpc-client.ts";
import type { RpcMethods } from "../../rpc/method-types.ts";
import type { HomeFiles } from "./files/home-files.ts";
import { startLocalHost } from "./local-host.ts";
import { removeChain as removeFiles } from "./opfs/opfs-pool.ts";
import { BrowserProvider, type HostOptions, type NodeHost } from "./provider.ts";
import { UnsupportedInBrowserError } from "./unsupported.ts";
import { isDedicatedWorker } from "./web.ts";
import { startRemoteHost } from "./worker/remote-host.ts";

export type BrowserNode = StopsWhenDisposed &
  DevControl & {
    /** EIP-1193: for viem's `custom`, ethers' `BrowserProvider`, web3.js. */
    readonly provider: BrowserProvider;
    /** The funded accounts of a dev chain. Anyone knows their keys. */
    readonly accounts: readonly DevAccount[];
    /** Every method, typed: `rpc.eth_getBalance(address, "latest")`. */
    readonly rpc: RpcMethods;
    /** Makes one block now, empty or not. @returns its hash */
    produceBlock(): Promise<`0x${string}`>;
    /** Blocks 0 to the head in the format of `evmintd export` and `geth export`. */
    exportChain(): Promise<Uint8Array>;
    /** Executes the blocks of an exported file that the chain lacks. @throws ProviderRpcError */
    importChain(file: Uint8Array): Promise<void>;
    /** The home's current files: written to a folder, `evmintd start --home` opens them. */
    exportHome(): Promise<HomeFiles>;
    stop(): Promise<void>;
  };

const CHAIN_FILE = "chain.rlp";

function createBrowserNode(host: NodeHost, provider: BrowserProvider): BrowserNode {
  const request = (call: ProviderRequest) => provider.request(call);
  const rpc = createRpcClient({ request });
  return {
    ...createDevControl(rpc),
    provider,
    rpc,
    accounts: host.accounts,
    produceBlock: () => host.produceBlock(),
    async exportChain() {
      await rpc.admin_exportChain(CHAIN_FILE);
      return host.takeFile(CHAIN_FILE);
    },
    async importChain(file) {
      await host.putFile(CHAIN_FILE, file);
      try {
        await rpc.admin_importChain(CHAIN_FILE);
      } finally {
        await host.removeFile(CHAIN_FILE);
      }
    },
    exportHome: () => host.exportHome(),
    stop: () => host.stop(),
    [Symbol.asyncDispose]: () => host.stop(),
  };
}

export type BrowserNodeOptions = Omit<HostOptions, "home" | "files"> & {
  /** Name of the chain in the origin's private file system. Omitted: a dev chain in memory that ends with the node. */
  readonly home?: string | undefined;
  /** Files of a new home, from `exportHome` or a folder of `evmintd`. */
  readonly files?: HostOptions["files"];
  /** Runs the node in a dedicated worker, so that it never blocks the page. Default: true on a page if `home` is given. */
  readonly worker?: boolean;
  /** For a node in this thread. */
  readonly log?: Logger;
};

/**
 * A node in a browser, for programs on pages or in workers.
 * @throws UnsupportedInBrowserError, LockedError while another tab has the chain open, and errors of `createNode` for Node
 */
export async function createNode(options: BrowserNodeOptions = {}): Promise<BrowserNode> {
  const { worker = options.home !== undefined && !isDedicatedWorker(), ...hostOptions } = options;
  const provider = new BrowserProvider();
  const deliver = (message: ProviderMessage) => provider.deliver(message);
  const host = worker ? await startInWorker(hostOptions, deliver) : await startLocalHost(hostOptions, deliver);
  provider.connect(host);
  let stopping: Promise<void> | undefined;
  const stop = () => {
    provider.connect(undefined);
    stopping ??= host.stop();
    return stopping;
  };
  return createBrowserNode({ ...host, stop }, provider);
}

/** Removes the stored chain `name`, if it exists. No tab may have it open. */
export function removeChain(name: string): Promise<void> {
  return removeFiles(name);
}

async function startInWorker(
  { log, ...options }: BrowserNodeOptions,
  deliver: (message: ProviderMessage) => void,
): Promise<NodeHost> {
  if (log !== undefined) throw new UnsupportedInBrowserError("a log of a worker");
  return startRemoteHost(options, deliver);
}
