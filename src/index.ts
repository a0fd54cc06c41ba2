import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "./config/load.ts";
import type { InProcessProvider } from "./node/provider.ts";
import { startNode } from "./node/start-node.ts";
import { type Logger, SILENT_LOGGER } from "./telemetry/logger.ts";

export { type InProcessProvider, type ProviderRequest, ProviderRpcError } from "./node/provider.ts";
export type { Logger } from "./telemetry/logger.ts";

export type CreateNodeOptions = {
  /** Folder of the chain. Left out: a chain that is gone when the node stops. */
  readonly home?: string;
  /** The ten funded accounts and open namespaces of `start --dev`. True unless `home` holds a chain made by `init`. */
  readonly dev?: boolean;
  /** Settings by their key in `app.toml`, as flags would give them: `{ "consensus.block-time": "1s" }`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly log?: Logger;
};

export type EvmintNode = {
  /** EIP-1193: for viem's `custom`, ethers' `BrowserProvider`, web3.js. */
  readonly provider: InProcessProvider;
  /** Where it listens; nowhere unless `settings` say so. */
  readonly urls: readonly string[];
  /** Makes one block now, empty or not; its hash. */
  mine(): `0x${string}`;
  stop(): Promise<void>;
};

/** No port, no socket: a program that embeds a node talks to `provider`. */
const NO_LISTENERS = { "json-rpc.enable": "false", "ipc.enable": "false" };

/** A node in this process. */
export async function createNode(options: CreateNodeOptions = {}): Promise<EvmintNode> {
  const { dev = true, settings = {}, log = SILENT_LOGGER } = options;
  const home = options.home ?? mkdtempSync(join(tmpdir(), "evmint-"));
  const flags = { ...NO_LISTENERS, ...settings };
  const { config } = loadConfig({ home, dev, flags, environment: {} });
  const node = await startNode(config, log);
  return {
    provider: node.provider,
    urls: node.listeners.map(({ url }) => url),
    mine: () => node.core.engine.produceBlock(),
    async stop() {
      await node.stop();
      if (options.home === undefined) rmSync(home, { recursive: true, force: true });
    },
  };
}
