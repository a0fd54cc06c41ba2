import { setImmediate } from "node:timers/promises";
import { importBlock } from "../../chain/import-block.ts";
import type { Config } from "../../config/config.ts";
import { isLoopback } from "../../config/dangers.ts";
import { nodeKey } from "../../config/secrets.ts";
import { clientVersion } from "../../config/version.ts";
import { InvalidBlockError } from "../../execution/errors.ts";
import { AdminError } from "../../rpc/admin/errors.ts";
import type { ListenRequest, NodeAdmin } from "../../rpc/admin/port.ts";
import type { EndpointOptions, RpcServer, TcpKind } from "../../rpc/server/server.ts";
import type { Block } from "../../types/block.ts";
import { encodeBlock } from "../../types/block-codec.ts";
import { readChainFile, writeChainFile } from "../chain-file.ts";
import type { ChainCore } from "../compose-chain.ts";
import { namespacesOf } from "../rpc-endpoints.ts";
import type { CallerFiles } from "./caller-files.ts";
import { nodeIdentity } from "./node-identity.ts";

export type NodeAdminModules = {
  readonly core: ChainCore;
  readonly files: CallerFiles;
  /** Undefined until the first listeners are open. */
  readonly server: () => RpcServer | undefined;
  /** As configured. */
  readonly endpoints: Readonly<Record<TcpKind, EndpointOptions>>;
  /** Every namespace there is. */
  readonly known: readonly string[];
  /** Accounts that a caller without passphrase could use are unlocked. */
  readonly hasUnlockedAccounts: () => boolean;
  /** False once the node begins to stop. */
  readonly isRunning: () => boolean;
};

const NAME: Readonly<Record<TcpKind, string>> = { http: "HTTP", ws: "WebSocket" };

/** Administration of a node whose one validator is this process. */
export function createNodeAdmin(
  config: Pick<Config, "home" | "dev" | "jsonRpc">,
  modules: NodeAdminModules,
): NodeAdmin {
  const { core, files, server, endpoints, hasUnlockedAccounts, isRunning } = modules;
  const { chain, engine, execution } = core;
  let isImporting = false;

  /** A block that breaks a rule is kept for `debug_getBadBlocks`. */
  function importOrKeep(block: Block): void {
    try {
      importBlock(chain, block, execution);
    } catch (error) {
      const isBad = error instanceof InvalidBlockError && error.code !== "BLOCK_UNKNOWN_PARENT";
      if (isBad) core.badBlocks.add(block);
      throw error;
    }
  }

  return {
    dataDirectory: () => config.home,
    peers: () => [],
    adminInfo: () => describeNode(config, core, server()),

    async startListener(kind, request) {
      const open = server();
      if (open === undefined) throw new AdminError("the node is still starting");
      const endpoint = endpointOf(endpoints[kind], request, modules.known);
      const at = `${endpoint.host}:${endpoint.port}`;
      const url = open.urls[kind];
      if (url !== undefined) {
        const running = new URL(url).host;
        const isElsewhere =
          (request.host !== undefined || request.port !== undefined) && running !== at;
        throw new AdminError(
          isElsewhere
            ? `${NAME[kind]} server already running on ${running}`
            : `JSON-RPC over ${NAME[kind]} is already enabled`,
        );
      }
      if (
        !isLoopback(endpoint.host) &&
        !config.jsonRpc.allowInsecureUnlock &&
        hasUnlockedAccounts()
      ) {
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

    async stopListener(kind) {
      await server()?.shut(kind);
    },

    async exportChain(file, first, last) {
      const head = chain.head().block.header.number;
      const from = first ?? 0;
      const to = last ?? head;
      if (from > to)
        throw new AdminError(`export failed: first (${from}) is greater than last (${to})`);
      if (to > head) throw new AdminError(`export failed on #${head + 1}: not found`);
      async function* blocks() {
        for (let number = from; number <= to; number++) {
          yield encodeBlock(chain.blockByNumber(number)!.block);
          // Other calls have their turn between two blocks.
          await setImmediate();
        }
      }
      await writeChainFile(files.forWriting(file), blocks());
    },

    async importChain(file) {
      const path = files.forReading(file);
      if (isImporting) throw new AdminError("another import is running");
      isImporting = true;
      // Only one writer: blocks that the engine builds meanwhile would have another parent.
      engine.stop();
      try {
        for await (const { block } of readChainFile(path)) {
          if (!isRunning()) throw new AdminError("the node stops");
          const { number } = block.header;
          const known = chain.blockByNumber(number);
          if (known === undefined) importOrKeep(block);
          else if (known.block.hash !== block.hash) {
            throw new AdminError(
              `block ${number} is another one here: the file is of another chain`,
            );
          }
          await setImmediate();
        }
      } finally {
        isImporting = false;
        if (isRunning()) engine.start();
      }
    },
  };
}

function endpointOf(
  configured: EndpointOptions,
  request: ListenRequest,
  known: readonly string[],
): EndpointOptions {
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
  { chain }: ChainCore,
  server: RpcServer | undefined,
) {
  const head = chain.head().block;
  const { chainId, blobSchedule, terminalTotalDifficulty, ...forks } = chain.config;
  return {
    ...nodeIdentity(nodeKey(home)),
    name: clientVersion(),
    ip: "127.0.0.1",
    // None is open: peers need a network, and the solo engine has none.
    ports: { discovery: 0, listener: 0 },
    listenAddr: "",
    rpc: server?.urls ?? {},
    protocols: {
      eth: {
        network: Number(chainId),
        genesis: chain.genesisHash,
        config: {
          chainId: Number(chainId),
          ...forks,
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
    },
  };
}
