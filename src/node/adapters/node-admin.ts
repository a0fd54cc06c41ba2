import type { Address } from "../../base/primitives/address.ts";
import { toQuantity } from "../../base/primitives/quantity.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import type { EngineNetwork, NetworkPeer, NetworkStatus } from "../../consensus/engine.ts";
import { InvalidBlockError } from "../../evm/execution/errors.ts";
import { AdminError } from "../../rpc/methods/admin/node.ts";
import type { ListenRequest, NodeAdmin } from "../../rpc/ports/admin.ts";
import type { EndpointOptions, TcpKind } from "../../rpc/transport/server/listener.ts";
import type { RpcServer } from "../../rpc/transport/server/server.ts";
import { type FileBlock, importFileBlock } from "../chain-files/chain-file.ts";
import { exportChainFile, importChainFile } from "../chain-files/transfer-chain-file.ts";
import { editAppToml } from "../config/app-toml.ts";
import type { Config } from "../config/config.ts";
import { isLoopback } from "../config/dangers.ts";
import { clientVersion } from "../config/package.ts";
import { nodeKey } from "../config/secrets.ts";
import type { CallerFiles } from "./caller-files.ts";
import { nodeIdentity } from "./node-identity.ts";
import type { ChainParts, PoolParts, ProductionParts } from "./parts.ts";
import { namespacesOf } from "./rpc-endpoints.ts";

export type NodeAdminModules = {
  readonly core: Pick<ChainParts, "chain" | "execution">;
  readonly production: Pick<ProductionParts, "engine" | "badBlocks" | "withoutEngine">;
  readonly pool: { readonly mempool: Pick<PoolParts["mempool"], "clear"> };
  readonly log: Logger;
  readonly timers: Timers;
  readonly files: CallerFiles;
  /** Undefined until the first listeners are open. */
  readonly server: () => RpcServer | undefined;
  /** As configured. */
  readonly endpoints: Readonly<Record<TcpKind, EndpointOptions>>;
  /** All namespaces. */
  readonly known: readonly string[];
  /** Whether accounts are unlocked that a caller could use without a passphrase. */
  readonly hasUnlockedAccounts: () => boolean;
  readonly whisper: () => WhisperNetwork;
  /** False once the node begins to stop. */
  readonly isRunning: () => boolean;
};

/** Whisper's own peers. */
type WhisperNetwork = {
  /** Addresses under which peers reach this node; empty if it does not listen. */
  addresses(): readonly string[];
  /** Ids of connected peers. */
  peers(): readonly string[];
  /** @throws PeerAddressError */
  addPeer(address: string): Promise<void>;
};

/** CometBFT's consensus protocol, in devp2p's notation of capabilities. */
const NETWORK_CAPABILITY = "bft/1";

const NAME: Readonly<Record<TcpKind, string>> = { http: "HTTP", ws: "WebSocket" };

export function createNodeAdmin(
  config: Pick<Config, "home" | "dev" | "jsonRpc" | "cometbft" | "shh">,
  modules: NodeAdminModules,
): NodeAdmin {
  const { production, log, timers, files, server, endpoints, hasUnlockedAccounts, isRunning } = modules;
  const { chain, execution } = modules.core;
  const { engine } = production;

  /** Stores a block that breaks a rule for `debug_getBadBlocks`. */
  function importOrKeep(fileBlock: FileBlock & { readonly senders: readonly Address[] }): void {
    const { block } = fileBlock;
    try {
      importFileBlock(chain, fileBlock, execution);
    } catch (error) {
      const isBad = error instanceof InvalidBlockError && error.code !== "BLOCK_UNKNOWN_PARENT";
      if (isBad) production.badBlocks.add(block);
      throw error;
    }
  }

  /** Applies `change` and stores its result, so that it survives a restart. */
  async function changePeers(change: (network: EngineNetwork) => void | Promise<void>) {
    const { network } = engine;
    if (network === undefined) {
      throw new AdminError("the solo engine has no network: this node is its only validator");
    }
    const before = network.peerSettings();
    try {
      await change(network);
    } finally {
      const { persistent, trusted, rejected } = network.peerSettings();
      const lists = [
        ["cometbft.persistent-peers", before.persistent, persistent],
        ["cometbft.trusted-peers", before.trusted, trusted],
        ["cometbft.rejected-peers", before.rejected, rejected],
      ] as const;
      for (const [key, old, list] of lists) {
        if (list.join() !== old.join()) editAppToml(config.home, key, list);
      }
    }
  }

  return {
    dataDirectory: () => config.home,
    peers: () => (engine.network?.peers() ?? []).map(peerObject),

    async addPeer({ address }) {
      if (!address.startsWith("/")) return changePeers((network) => network.addPeer(address));
      await modules.whisper().addPeer(address);
      if (!config.shh.peers.includes(address)) {
        editAppToml(config.home, "shh.peers", [...config.shh.peers, address]);
      }
    },
    removePeer: ({ id }) => changePeers((network) => network.removePeer(id)),
    trustPeer: ({ address }) => changePeers((network) => network.trustPeer(address)),
    distrustPeer: ({ id }) => changePeers((network) => network.distrustPeer(id)),

    clearPool: () => modules.pool.mempool.clear(),

    adminInfo: () => describeNode(config, { chain, engine }, server(), modules.whisper()),

    async startListener({ kind, request }) {
      const open = server();
      if (open === undefined) throw new AdminError("the node is still starting");
      const endpoint = endpointOf(endpoints[kind], request, modules.known);
      const at = `${endpoint.host}:${endpoint.port}`;
      const url = open.urls[kind];
      if (url !== undefined) {
        const running = new URL(url).host;
        const isElsewhere = (request.host !== undefined || request.port !== undefined) && running !== at;
        throw new AdminError(
          isElsewhere
            ? `${NAME[kind]} server already running on ${running}`
            : `JSON-RPC over ${NAME[kind]} is already enabled`,
        );
      }
      if (!isLoopback(endpoint.host) && !config.jsonRpc.allowInsecureUnlock && hasUnlockedAccounts()) {
        throw new AdminError(
          `others could reach ${at} while accounts are unlocked; lock them, or set json-rpc.allow-insecure-unlock`,
        );
      }
      try {
        await open.open(kind, endpoint);
      } catch (cause) {
        const { code } = cause as NodeJS.ErrnoException;
        if (code === undefined) throw cause;
        throw new AdminError(`cannot listen on ${at}: ${code}`, { code }, { cause });
      }
    },

    async stopListener({ kind }) {
      await server()?.shut(kind);
    },

    async exportChain({ file, first, last }) {
      const head = chain.head().block.header.number;
      const from = first ?? 0;
      const to = last ?? head;
      if (from > to) throw new AdminError(`export failed: first (${from}) is greater than last (${to})`);
      if (to > head) throw new AdminError(`export failed on #${head + 1}: not found`);
      await exportChainFile(files.forWriting(file), chain, { first: from, last: to }, { mayContinue: () => true });
    },

    async importChain({ file }) {
      const path = files.forReading(file);
      await production.withoutEngine("an import", async () => {
        await importChainFile(
          path,
          { chain, log, timers },
          {
            mayContinue() {
              if (!isRunning()) throw new AdminError("the node is stopping");
              return true;
            },
            importBlock: (fileBlock, senders) => importOrKeep({ ...fileBlock, senders }),
          },
        );
      });
    },
  };
}

function endpointOf(configured: EndpointOptions, request: ListenRequest, known: readonly string[]): EndpointOptions {
  return {
    ...configured,
    host: request.host ?? configured.host,
    port: request.port ?? configured.port,
    ...(request.namespaces && { namespaces: namespacesOf(request.namespaces, known) }),
    ...(request.origins && { allowedOrigins: request.origins }),
    ...(request.hosts && { allowedHosts: request.hosts }),
  };
}

function describeNode(
  { home }: Pick<Config, "home">,
  { chain, engine: { network } }: Pick<ChainParts & ProductionParts, "chain" | "engine">,
  server: RpcServer | undefined,
  whisper: WhisperNetwork,
) {
  const peerPort = Number(/:(\d+)$/.exec(network?.status().listenAddress ?? "")?.[1] ?? 0);
  const head = chain.head().block;
  const { chainId, blobSchedule, terminalTotalDifficulty, minimumTip, gasLimitTarget, ...rules } = chain.config;
  return {
    ...(network ? networkIdentity(network.nodeId, peerPort) : nodeIdentity(nodeKey(home))),
    name: clientVersion(),
    ip: "127.0.0.1",
    // The solo engine has no network.
    ports: { discovery: 0, listener: peerPort },
    listenAddr: network?.status().listenAddress ?? "",
    rpc: server?.urls ?? {},
    protocols: {
      eth: {
        network: Number(chainId),
        genesis: chain.genesisHash,
        config: {
          chainId: Number(chainId),
          ...rules,
          ...(minimumTip !== undefined && { minimumTip: toQuantity(minimumTip) }),
          ...(gasLimitTarget !== undefined && { gasLimitTarget: toQuantity(gasLimitTarget) }),
          ...(terminalTotalDifficulty !== undefined && {
            terminalTotalDifficulty: Number(terminalTotalDifficulty),
          }),
          blobSchedule: Object.fromEntries(
            Object.entries(blobSchedule).map(([fork, { baseFeeUpdateFraction, ...counts }]) => [
              fork,
              { ...counts, baseFeeUpdateFraction: Number(baseFeeUpdateFraction) },
            ]),
          ),
        },
        head: head.hash,
      },
      ...(network && { bft: consensusObject(network.status()) }),
      shh: { version: 2, addresses: whisper.addresses(), peers: whisper.peers() },
    },
  };
}

/** Encodes numbers as JSON does; null while CometBFT does not answer. */
function consensusObject({ step, validator }: NetworkStatus) {
  return {
    height: step?.height ?? null,
    round: step?.round ?? null,
    step: step?.step ?? null,
    validator: validator ?? null,
  };
}

/** Shows a peer as geth's `admin_peers` does. */
function peerObject(peer: NetworkPeer) {
  const { id, name, version, remoteAddress, isInbound, isTrusted, isStatic } = peer;
  return {
    enode: enodeOf(id, remoteAddress),
    id,
    name: `${name}/${version}`,
    caps: [NETWORK_CAPABILITY],
    network: {
      localAddress: "",
      remoteAddress,
      inbound: isInbound,
      trusted: isTrusted,
      static: isStatic,
    },
    protocols: {},
  };
}

function networkIdentity(id: string, port: number) {
  return { enode: enodeOf(id, `127.0.0.1:${port}`), id, enr: "" };
}

/** CometBFT identifies nodes by 20 bytes of a hash. An enode URL has room for the 64 bytes of a key, so the rest is zeros. */
function enodeOf(id: string, address: string): string {
  return `enode://${id.padEnd(128, "0")}@${address}`;
}
