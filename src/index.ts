import { randomUUID } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nearest } from "./base/primitives/nearest.ts";
import { type Logger, SILENT_LOGGER } from "./base/telemetry/logger.ts";
import type { StopsWhenDisposed } from "./node/adapters/async-disposable.ts";
import type { InProcessProvider } from "./node/adapters/provider-types.ts";
import { DEV_FLAG_OPTIONS } from "./node/config/dev-flags.ts";
import type { DevHardfork } from "./node/config/dev-rules.ts";
import { UnknownConfigKeyError } from "./node/config/errors.ts";
import { genesisPath } from "./node/config/home.ts";
import { loadConfig } from "./node/config/load.ts";
import { OPTIONS } from "./node/config/schema.ts";
import type { DevAccount } from "./node/keystore/dev-accounts.ts";
import { createDevControl, type DevControl } from "./node/roles/dev/dev-control.ts";
import { createRpcClient } from "./node/roles/rpc-client.ts";
import { startNode } from "./node/roles/start-node.ts";
import type { RpcMethods } from "./rpc/method-types.ts";

export type { Logger } from "./base/telemetry/logger.ts";
export {
  type InProcessProvider,
  type ProviderMessage,
  type ProviderRequest,
  ProviderRpcError,
} from "./node/adapters/provider-types.ts";
export type { DevAccount } from "./node/keystore/dev-accounts.ts";
export type { DevControl } from "./node/roles/dev/dev-control.ts";
export type * from "./rpc/method-types.ts";

export type CreateNodeOptions = {
  /** Folder of the chain. Left out: a dev chain in memory that is gone when the node stops. */
  readonly home?: string;
  /** The funded accounts and open namespaces of `start --dev`. Default: true unless `home` holds a chain made by `init`. */
  readonly dev?: boolean;
  /**
   * Continues a block of another chain, the newest unless a number is given. Its node must not run in this process, which waits for its
   * answers.
   */
  readonly fork?: {
    readonly url: string | readonly string[];
    readonly blockNumber?: number;
    /** Proofs of its state: where the node serves them (`auto`, the default), demanded, or not asked for. */
    readonly verify?: "auto" | "on" | "off";
  };
  /** Rules of a new dev chain; Osaka's unless given. */
  readonly hardfork?: DevHardfork;
  /** Settings by their key in `app.toml`, and flags of a dev chain by their name: `{ "consensus.block-time": "1s", accounts: "3" }`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly log?: Logger;
};

export type EvmintNode = StopsWhenDisposed &
  DevControl & {
    /** EIP-1193: for viem's `custom`, ethers' `BrowserProvider`, web3.js. */
    readonly provider: InProcessProvider;
    /** Where it listens; nowhere unless `settings` say so. */
    readonly urls: readonly string[];
    /** The funded accounts of a dev chain; none on other chains. Anyone knows their keys. */
    readonly accounts: readonly DevAccount[];
    /** Every method, typed: `rpc.eth_getBalance(address, "latest")`. */
    readonly rpc: RpcMethods;
    /** Makes one block now, empty or not, on any chain with the solo engine; its hash. */
    produceBlock(): `0x${string}`;
    stop(): Promise<void>;
  };

/** No port, no socket: a program that embeds a node talks to `provider`. */
const EMBEDDED = {
  "json-rpc.enable": "false",
  "ipc.path": "",
  // Its own program is the only caller, and answers come in the order of the calls.
  "json-rpc.workers": "0",
  // Nodes of one program share an engine of the EVM; one that compiles contracts has its own, and a thread.
  "evm.compile": "off",
  // The program's threads are its own.
  "evm.speculation-threads": "0",
};

const RPC_ADDRESSES = ["json-rpc.address", "json-rpc.ws-address"];

const OPTION_NAMES = [
  "home",
  "dev",
  "fork",
  "hardfork",
  "settings",
  "log",
] as const satisfies (keyof CreateNodeOptions)[];

/**
 * A node in this process.
 * @throws UnknownConfigKeyError for an unknown option or setting, InvalidConfigError for a wrong value, and what the start throws
 */
export async function createNode(options: CreateNodeOptions = {}): Promise<EvmintNode> {
  assertOptions(options);
  const { fork, hardfork, settings = {}, log = SILENT_LOGGER } = options;
  const { dev = options.home === undefined || !existsSync(genesisPath(options.home)) } = options;
  // Made when something is written to it: most nodes in memory never do.
  const home = options.home ?? join(tmpdir(), `evmint-${randomUUID()}`);
  const inMemory = { "in-memory": String(options.home === undefined) };
  const rules = hardfork === undefined ? {} : { hardfork };
  const flags = { ...EMBEDDED, ...inMemory, ...rules, ...forkFlags(fork), ...listenerFlags(settings), ...settings };
  const { config } = loadConfig({ home, dev, flags, flagsSource: "settings of createNode", environment: {} });
  const node = await startNode(config, log);
  async function stop() {
    await node.stop();
    if (options.home === undefined) rmSync(home, { recursive: true, force: true });
  }
  const rpc = createRpcClient(node.provider);
  return {
    ...createDevControl(rpc),
    provider: node.provider,
    rpc,
    urls: node.listeners.map(({ url }) => url),
    accounts: node.chain.devAccounts,
    produceBlock: () => node.core.production.engine.produceBlock(),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function forkFlags(fork: CreateNodeOptions["fork"]): Readonly<Record<string, string>> {
  if (fork === undefined) return {};
  const { url, blockNumber, verify } = fork;
  return {
    "dev.fork-url": typeof url === "string" ? url : url.join(),
    ...(blockNumber !== undefined && { "fork-block": String(blockNumber) }),
    ...(verify !== undefined && { "fork-verify": verify }),
  };
}

/** Naming an address asks for its listener. The other one of the two, of which nothing is said, takes any free port of this machine. */
function listenerFlags(settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (!RPC_ADDRESSES.some((key) => settings[key] !== undefined)) return {};
  return { "json-rpc.enable": "true", ...Object.fromEntries(RPC_ADDRESSES.map((key) => [key, "127.0.0.1:0"])) };
}

/** A misspelt option would otherwise be an option silently left out. */
function assertOptions(options: object): void {
  for (const key of Object.keys(options)) {
    if (OPTION_NAMES.some((name) => name === key)) continue;
    const isSetting = [...OPTIONS, ...DEV_FLAG_OPTIONS].some((option) => option.key === key);
    throw new UnknownConfigKeyError({
      key,
      source: "createNode",
      nearest: isSetting ? `settings: { "${key}": … }` : nearest(key, OPTION_NAMES),
    });
  }
}
