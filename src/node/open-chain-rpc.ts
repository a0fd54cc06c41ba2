import { createMinerSettings } from "../adapters/miner-settings.ts";
import { createNodeAdmin } from "../adapters/node-admin.ts";
import type { InProcessProvider } from "../adapters/provider.ts";
import { namespacesOf } from "../adapters/rpc-endpoints.ts";
import { createExecutionThreads } from "../calls/execution-threads.ts";
import type { Config } from "../config/config.ts";
import type { Checkpoint } from "../les/checkpoints/checkpoint.ts";
import { type ForkedBlocks, forkedMethods } from "../rpc/methods/dev/forked-methods.ts";
import { createMethodRegistry } from "../rpc/methods/methods.ts";
import type { EndpointOptions, TcpKind } from "../rpc/transport/server/listener.ts";
import type { RpcServer } from "../rpc/transport/server/server.ts";
import { createCheckpointService } from "../services/checkpoint-service.ts";
import { voteForCheckpoint } from "../services/checkpoint-signer.ts";
import type { LightClientService } from "../services/light-client-service.ts";
import type { WhisperService } from "../services/whisper-service.ts";
import type { Failures } from "../telemetry/failures.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ChainCore } from "./compose/compose-chain.ts";
import type { Fork } from "./compose/open-fork.ts";
import { createRpcPorts, type NodeModules } from "./compose/rpc-modules.ts";
import type { RpcTarget } from "./dev/rpc-switch.ts";

/** What methods use of the node besides its chain. */
export type RpcServices = Pick<
  NodeModules,
  | "keys"
  | "dappDb"
  | "runtime"
  | "files"
  | "isListening"
  | "readiness"
  | "instance"
  | "reset"
  | "connectionSessions"
> & {
  readonly lightClients: LightClientService;
  readonly whisper: WhisperService;
  /** As configured. */
  readonly endpoints: Readonly<Record<TcpKind, EndpointOptions>>;
  /** Every namespace there is. */
  readonly known: readonly string[];
  /** undefined until listeners are open */
  readonly server: () => RpcServer | undefined;
  readonly provider: () => InProcessProvider | undefined;
  readonly failures: Failures;
  readonly metrics: Metrics;
};

/** The methods over one chain. */
export type ChainRpc = RpcTarget & {
  readonly core: ChainCore;
  /** Afterwards nothing of it reads the store. */
  close(): Promise<void>;
};

/** Methods and ports over the chain of `core`, and what follows that chain for them. */
export function openChainRpc(
  config: Config,
  log: Logger,
  core: ChainCore,
  services: RpcServices,
): ChainRpc {
  const { keys, files, known, endpoints, whisper, failures, metrics } = services;
  const methods = createMethodRegistry(config);
  const registry = core.fork ? forkedMethods(methods, forkedBlocksOf(core.fork)) : methods;
  const admin = createNodeAdmin(config, {
    ...{ core, log, files, endpoints, known },
    server: services.server,
    isRunning: services.isListening,
    whisper: () => whisper,
    hasUnlockedAccounts: () => config.dev || keys.unlockedAccounts().length > 0,
  });
  const lesLog = log.child("les");
  const vote = failures.guard("checkpoint vote", (checkpoint: Checkpoint) => {
    const provider = services.provider();
    return (
      provider &&
      voteForCheckpoint(config, checkpoint, { chain: core.chain, keys, provider, log: lesLog })
    );
  });
  const checkpoints = createCheckpointService(
    config,
    { chain: core.chain, log: lesLog, failures, metrics, onCheckpoint: vote },
    namespacesOf(config.jsonRpc.api, known).includes("les"),
  );
  const rpcLog = log.child("rpc");
  // Other threads follow the store, which has only a part of a forked chain's state.
  const threads = core.fork
    ? undefined
    : createExecutionThreads(config, rpcLog, core, metrics, core.compiler);
  const ports = createRpcPorts(config, rpcLog, core, {
    ...services,
    ...{ admin, threads },
    shh: whisper.port,
    les: { ...checkpoints, ...services.lightClients.control },
    methods: [...registry.values()],
    miner: createMinerSettings(config, core, log.child("miner")),
  });
  const { filters } = ports.sessions;
  metrics.gaugeOf({ name: "rpc_filters", help: "Installed filters." }, () => filters.size);
  return {
    ...{ core, registry, ports },
    async close() {
      filters.close();
      checkpoints.close();
      await threads?.close();
    },
  };
}

function forkedBlocksOf({ base, call, state }: Fork): ForkedBlocks {
  const { header, hash } = base.block;
  return { number: header.number, hash, call, missedBy: (run) => state.missedBy(run) };
}
