import type { ProviderRequest } from "../adapters/provider.ts";
import type { DevAccount } from "../keystore/dev-accounts.ts";
import { createDevControl, type DevControl } from "../node/dev/dev-control.ts";
import { createRpcClient } from "../node/rpc-client.ts";
import type { RpcMethods } from "../rpc/method-types.ts";
import type { HomeFiles } from "./files/home-files.ts";
import type { NodeHost } from "./node-host.ts";
import type { BrowserProvider } from "./provider.ts";

export type BrowserNode = AsyncDisposable &
  DevControl & {
    /** EIP-1193: for viem's `custom`, ethers' `BrowserProvider`, web3.js. */
    readonly provider: BrowserProvider;
    /** The funded accounts of a dev chain. Anyone knows their keys. */
    readonly accounts: readonly DevAccount[];
    /** Every method, typed: `rpc.eth_getBalance(address, "latest")`. */
    readonly rpc: RpcMethods;
    /** Makes one block now, empty or not; its hash. */
    produceBlock(): Promise<`0x${string}`>;
    /** Blocks 0 to the head in the format of `evmintd export` and `geth export`. */
    exportChain(): Promise<Uint8Array>;
    /** Executes the blocks of such a file that the chain lacks. @throws ProviderRpcError */
    importChain(file: Uint8Array): Promise<void>;
    /** The files of the home as they are now: written to a folder, `evmintd start --home` opens them. */
    exportHome(): Promise<HomeFiles>;
    stop(): Promise<void>;
  };

const CHAIN_FILE = "chain.rlp";

export function createBrowserNode(host: NodeHost, provider: BrowserProvider): BrowserNode {
  const request = (call: ProviderRequest) => provider.request(call);
  const rpc = createRpcClient({ request });
  return {
    ...createDevControl(rpc),
    ...{ provider, rpc },
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
