import type { Socket } from "node:net";
import { allowedOriginsOf } from "../../../adapters/rpc-endpoints.ts";
import { createRpcObserver } from "../../../adapters/rpc-observer.ts";
import { callLimitsOf, rpcLimitsOf, rpcSettings } from "../../../adapters/rpc-settings.ts";
import { createConnectionSessions, reportSessions } from "../../../adapters/sessions.ts";
import type { Config } from "../../../config/config.ts";
import { InvariantError } from "../../../errors.ts";
import { createOtherRequests } from "../../../observe/other-requests.ts";
import { createClientAdmission } from "../../../rpc/methods/les/client-admission.ts";
import { createMethodRegistry } from "../../../rpc/methods/methods.ts";
import type { Sessions } from "../../../rpc/methods/sessions.ts";
import { createChannelPorts } from "../../../rpc/ports/channel/channel-client.ts";
import type { ExecutionPort, ExecutionReads } from "../../../rpc/ports/execution.ts";
import type { RemotePorts } from "../../../rpc/ports/remote-ports.ts";
import { createAuthenticator } from "../../../rpc/transport/auth/authenticator.ts";
import type { TcpKind } from "../../../rpc/transport/server/listener.ts";
import { startRpcServer } from "../../../rpc/transport/server/server.ts";
import type { Logger } from "../../../telemetry/logger.ts";
import { createMetrics } from "../../../telemetry/metrics.ts";
import { createContractCompiler } from "../../adapters/compiled/contract-compiler.ts";
import type { ThreadedCompiler } from "../../adapters/compiled/threaded-compiler.ts";
import { createExecutionThreads } from "../../adapters/execution-workers.ts";
import { createThreadedExecution } from "../../adapters/threaded-execution.ts";
import { FollowedChain } from "./followed-chain.ts";
import { ForwardedAdmission } from "./forwarded-admission.ts";
import { ForwardedCalls } from "./forwarded-calls.ts";
import { MultiplexedPort } from "./multiplexed-port.ts";
import type { FromWorker, RpcWorkerData, ToWorker } from "./rpc-protocol.ts";
import { sharedLimits } from "./shared-limits.ts";

const nowMs = () => performance.now();

/** Methods that use these run in the chain's process (`runsInWorker`). */
const SESSIONS_OF_THE_CHAIN: Pick<Sessions, "filters" | "sendLock" | "hashrates"> = {
  get filters(): never {
    throw new InvariantError("filters are in the chain's process");
  },
  get sendLock(): never {
    throw new InvariantError("nonces are given out in the chain's process");
  },
  get hashrates(): never {
    throw new InvariantError("hash rates are in the chain's process");
  },
};

/** A worker that serves connections. */
export type RpcWorker = {
  /** @param socket of a connection */
  receive(message: ToWorker, socket: Socket | undefined): void;
};

/** Builds an RPC process: listeners that are handed their connections, over a view of the store that another process writes. */
export async function composeRpcWorker(
  data: RpcWorkerData,
  log: Logger,
  post: (message: FromWorker) => void,
): Promise<RpcWorker> {
  const { config, index, count } = data;
  const metrics = createMetrics();
  const reportListenerError = (error: unknown) => log.error("listener of events failed", { error });
  const compiler = createContractCompiler(config, log.child("evm"), metrics);
  const chain = new FollowedChain(data, reportListenerError, compiler);
  const port = new MultiplexedPort((message) => post({ kind: "port", message } as FromWorker));
  const remote = createChannelPorts(
    port,
    { config: data.chainConfig, genesisHash: data.genesisHash },
    { onListenerError: reportListenerError },
  );
  const forwarded = new ForwardedCalls(post);
  const serving = new ForwardedAdmission(post, (connection) => forwarded.connectionId(connection));
  const methods = createMethodRegistry(config);
  const ports: RemotePorts = {
    ...remote,
    chain: chain.view(remote.chain, config.limits.calls),
    execution: createExecution(config, log, {
      ...{ chain, remote, metrics, compiler },
      store: data.store,
    }),
  };
  const settings = rpcSettings(config, [...methods.values()]);
  const limits = sharedLimits(rpcLimitsOf(config), index, count);
  const ofConnections = createConnectionSessions(sharedConfig(config, index, count), log, ports);
  const sessions = Object.assign(Object.create(SESSIONS_OF_THE_CHAIN), ofConnections) as Sessions;
  ofConnections.subscriptions.onOpen = () => chain.emitCommitted();
  reportSessions(metrics, ofConnections);
  const authentication = createAuthenticator({
    secret: data.jwtSecret,
    ...config.limits.tokens,
    onBadToken: (source) => post({ kind: "badToken", source }),
  });
  const server = await startRpcServer(
    {
      allowedHosts: config.jsonRpc.vhosts,
      allowedOrigins: allowedOriginsOf(config),
      limits,
      ...(data.tls && { tls: data.tls }),
      isHanded: true,
    },
    {
      registry: forwarded.registryOf(methods),
      modules: { ...ports, sessions, settings },
      observer: createRpcObserver(log, metrics),
      ...(config.les.serve > 0 && { admission: createClientAdmission({ serving, nowMs }) }),
      authenticate: authentication.authenticate,
      otherRequest: createOtherRequests(config, log, () => remote.node.readiness(), {
        ...{ node: ports.node, settings },
      }),
    },
  );

  function accept(listener: TcpKind, socket: Socket | undefined): void {
    const end = () => post({ kind: "ended", listener, connections: 1 });
    // A client that left before it was handed over.
    if (socket === undefined) {
      end();
      return;
    }
    socket.once("close", end);
    server.accept(listener, socket);
  }

  return {
    receive(message, socket) {
      switch (message.kind) {
        case "open":
          void server.open(message.listener, message.endpoint);
          break;
        case "shut":
          void server
            .shut(message.listener, message.graceMs)
            .finally(() => post({ kind: "shut", listener: message.listener }));
          break;
        case "connection":
          accept(message.listener, socket);
          break;
        case "head":
          chain.emitHead(message.number, message.hash);
          break;
        case "removed":
          chain.emitRemoved(message.blocks, message.epoch);
          break;
        case "port":
          port.receive(message.message);
          break;
        case "badToken":
          authentication.countBadToken(message.source);
          break;
        case "metrics":
          post({ kind: "metrics", id: message.id, exposition: metrics.exposition() });
          break;
        case "admitted":
        case "notAdmitted":
          serving.receive(message);
          break;
        case "start":
          break;
        default:
          forwarded.receive(message);
      }
    },
  };
}

type AnyMethod = (...args: readonly unknown[]) => unknown;

/** Executions in this process and its own thread; those on the pending block, and of blocks, in the chain's process. */
function createExecution(
  config: Config,
  log: Logger,
  modules: {
    readonly chain: FollowedChain;
    readonly remote: RemotePorts;
    readonly store: RpcWorkerData["store"];
    readonly metrics: ReturnType<typeof createMetrics>;
    readonly compiler: ThreadedCompiler | undefined;
  },
): ExecutionPort {
  const { chain, remote } = modules;
  const { reader, execution, suggestTip } = chain;
  const store = {
    followable: modules.store,
    get epoch() {
      return chain.newestEpoch();
    },
  };
  const oneThread = { ...config, jsonRpc: { ...config.jsonRpc, workers: 1 } };
  const identity = { config: reader.config, genesisHash: reader.genesisHash };
  const threads = createExecutionThreads(
    oneThread,
    log,
    { chain: identity, store },
    modules.metrics,
    modules.compiler,
  );
  const threaded: ExecutionReads = createThreadedExecution(
    callLimitsOf(config),
    { reader, execution },
    { suggestTip, threads: threads!, isLocal: () => false },
  );
  const reads = Object.entries(threaded).map(([name, method]) => {
    const here = method as AnyMethod;
    const there = remote.execution[name as keyof ExecutionReads] as AnyMethod;
    const either: AnyMethod = (...args) =>
      args[1] === "pending" ? there(...args) : chain.read(() => here(...args));
    return [name, either];
  });
  return { ...remote.execution, ...(Object.fromEntries(reads) as ExecutionReads) };
}

/** The limits of sessions that hold for all processes together. */
function sharedConfig(config: Config, index: number, count: number): Config {
  const { limits } = config;
  const { max, termsMax, traceChainsMax } = limits.subscriptions;
  const shared = sharedLimits({ max, termsMax, traceChainsMax }, index, count);
  const subscriptions = { ...limits.subscriptions, ...shared };
  return { ...config, limits: { ...limits, subscriptions } };
}
