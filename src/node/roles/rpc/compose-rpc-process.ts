import { writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import type { Logger } from "../../../base/telemetry/logger.ts";
import { createMetrics, type Metrics } from "../../../base/telemetry/metrics.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import type { Channel, Handlers } from "../../../base/threads/channel.ts";
import { RELEASE_MS } from "../../../chain/store/follow/store-follower.ts";
import { isIndexDamage } from "../../../chain/store-errors.ts";
import { createClientAdmission } from "../../../rpc/methods/les/client-admission.ts";
import { createMethodRegistry } from "../../../rpc/methods/methods.ts";
import { type Followed, followedPort } from "../../../rpc/ports/declarations.ts";
import type { ExecutionPort } from "../../../rpc/ports/execution.ts";
import { PortClient } from "../../../rpc/ports/port-channel.ts";
import type { RemotePorts } from "../../../rpc/ports/remote-ports.ts";
import { createAuthenticator } from "../../../rpc/transport/auth/authenticator.ts";
import type { TcpKind } from "../../../rpc/transport/server/listener.ts";
import { startRpcServer } from "../../../rpc/transport/server/server.ts";
import { createExecutionReads } from "../../adapters/execution-port.ts";
import { allowedOriginsOf } from "../../adapters/rpc-endpoints.ts";
import { createRpcObserver } from "../../adapters/rpc-observer.ts";
import { callLimitsOf, rpcLimitsOf, rpcSettings } from "../../adapters/rpc-settings.ts";
import { createConnectionSessions, reportSessions } from "../../adapters/sessions.ts";
import { admittedExecution } from "../../calls/admission.ts";
import { createExecutionThreads } from "../../calls/execution-threads.ts";
import { createContractCompiler, type ThreadedCompiler } from "../../compiled-contracts/threaded-compiler.ts";
import type { Config } from "../../config/config.ts";
import { openTokenFiles } from "../../config/token-file.ts";
import { createOtherRequests } from "../../observe/other-requests.ts";
import { createCallReports } from "../../processes/call-reports.ts";
import { FollowedChain } from "../../processes/followed-chain.ts";
import { ForwardedAdmission, ForwardedCalls } from "../../processes/forwarded-calls.ts";
import type { ChainHandlers, RpcProcessData, RpcProcessHandlers } from "../../processes/protocol.ts";
import { sharedConfig, sharedLimits } from "../../processes/shared-limits.ts";
import { openTracer } from "../open-tracer.ts";

/**
 * Builds an RPC process: listeners that receive their connections from the chain's process, over a view of the store that it writes.
 * @returns the functions it offers to the chain's process
 */
export async function composeRpcProcess(
  data: RpcProcessData,
  log: Logger,
  channel: Channel<ChainHandlers>,
  timers: Timers,
): Promise<Handlers> {
  const config = sharedConfig(data.config, data.index, data.count);
  const metrics = createMetrics();
  const reportListenerError = (error: unknown) => log.error("listener of events failed", { error });
  const compiler = createContractCompiler(config, log.child("evm"), { metrics, timers });
  const chain = new FollowedChain(data, reportListenerError, compiler, timers);
  writeFileSync(data.opened, "");
  timers.every(RELEASE_MS, "release of removed files", () => chain.releaseRemoved());
  const tracer = await openTracer(config, { log, metrics, timers });
  const client = new PortClient(
    channel as Channel,
    // A dev chain under callers' control has no RPC processes.
    {
      config: chain.reader.config,
      genesisHash: data.genesisHash,
      genesisTime: data.genesisTime,
      isControlled: false,
    },
    reportListenerError,
  );
  const remote = client.ports;
  const forwarded = new ForwardedCalls(channel);
  const serving = new ForwardedAdmission(channel, forwarded);
  const methods = createMethodRegistry(config);
  const ports: RemotePorts = {
    ...remote,
    chain: chain.view(remote.chain, config.limits.calls),
    execution: createExecution(config, log, { chain, remote, data, metrics, timers, compiler }),
  };
  const settings = rpcSettings(config, [...methods.values()]);
  const sessions = createConnectionSessions(config, log, { ...ports, timers });
  sessions.subscriptions.onOpen = () => chain.emitCommitted();
  reportSessions(metrics, sessions);
  const authentication = createAuthenticator(
    {
      keys: openTokenFiles(config.home, { log, timers }),
      ...config.limits.tokens,
      onBadToken: (source) => channel.emit("badToken", { source }),
    },
    { timers },
  );
  const server = await startRpcServer(
    {
      allowedHosts: config.jsonRpc.vhosts,
      allowedOrigins: allowedOriginsOf(config),
      limits: sharedLimits(rpcLimitsOf(config), data.index, data.count),
      ...(data.tls && { tls: data.tls }),
      isHanded: true,
    },
    {
      registry: forwarded.registryOf(methods),
      modules: { ...ports, sessions, settings, timers },
      timers,
      observer: createRpcObserver(
        log,
        metrics,
        data.reportsCalls ? createCallReports(channel, timers) : undefined,
        tracer,
      ),
      ...(config.les.serve > 0 && { admission: createClientAdmission({ serving, timers }) }),
      authenticate: authentication.authenticate,
      otherRequest: createOtherRequests(config, log, () => remote.node.readiness(), {
        ...ports,
        sessions,
        settings,
        timers,
      }),
    },
  );

  /** The opening of the last listener: a connection can arrive right after the order to open it. */
  let opening: Promise<unknown> | undefined;

  async function accept(listener: TcpKind, socket: Socket | undefined): Promise<void> {
    await opening;
    const end = () => channel.emit("ended", { listener });
    // The client left before the handover.
    if (socket === undefined) {
      end();
      return;
    }
    socket.once("close", end);
    server.accept(listener, socket);
  }

  const handlers: RpcProcessHandlers = {
    ...forwarded.handlers,
    open({ listener, endpoint }) {
      opening = server.open(listener, endpoint);
    },
    tls: (material) => server.setTls(material),
    async shut({ listener, graceMs }) {
      await server.shut(listener, graceMs);
      await tracer?.flush();
    },
    connection({ listener, id }, { attached }) {
      channel.emit("took", { id });
      void accept(listener, attached as Socket | undefined);
    },
    head: ({ number, hash }) => chain.emitHead(number, hash),
    removed: ({ blocks, epoch }) => chain.emitRemoved(blocks, epoch),
    badToken: ({ source }) => authentication.countBadToken(source),
    beat() {},
    metrics: () => metrics.exposition(),
  };
  return { ...client.handlers, ...handlers };
}

/** Executes in this process and its threads; executions on the pending block, and of whole blocks, go to the chain's process. */
function createExecution(
  config: Config,
  log: Logger,
  modules: {
    readonly chain: FollowedChain;
    readonly remote: RemotePorts;
    readonly data: RpcProcessData;
    readonly metrics: Metrics;
    readonly timers: Timers;
    readonly compiler: ThreadedCompiler | undefined;
  },
): ExecutionPort {
  const { chain, remote, data } = modules;
  const { reader, execution, followed, suggestTip } = chain;
  const store = {
    followable: data.store,
    get epoch() {
      return chain.newestEpoch();
    },
    // The chain's process reads it again, and notes the damage.
    noteDamage() {},
  };
  const identity = { genesisConfig: data.chainConfig, genesisHash: reader.genesisHash };
  const threads = createExecutionThreads(config, log, { chain: identity, store }, modules);
  const limits = callLimitsOf(config);
  const core = { reader, execution, store: followed };
  const here: Followed<"execution"> =
    threads === undefined
      ? createExecutionReads(limits, core, suggestTip)
      : admittedExecution(limits, core, { suggestTip, threads, isLocal: () => false });
  return followedPort("execution", here, remote.execution, {
    read: (run) => chain.read(run),
    isDamage: isIndexDamage,
  });
}
