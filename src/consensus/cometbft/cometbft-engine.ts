import type { Failures } from "../../telemetry/failures.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Application } from "../application.ts";
import {
  type Engine,
  NetworkDecidesBlocksError,
  type NetworkPeer,
  type NetworkStatus,
} from "../engine.ts";
import { createAbciHandlers } from "./abci-handlers.ts";
import { type AbciServer, listenAbci } from "./abci-server.ts";
import { startEngineProcess } from "./engine-process.ts";
import { createEngineRpc, type EnginePeer, type EngineStatus } from "./engine-rpc.ts";
import { SUPERVISOR_DEFAULTS, Supervisor } from "./supervisor.ts";

export type CometBftOptions = {
  readonly binary: string;
  /** CometBFT's own home. */
  readonly directory: string;
  readonly abciSocket: string;
  /** `tcp://host:port` of CometBFT's RPC, on loopback. */
  readonly rpcAddress: string;
  /** `host:port` peers connect to. */
  readonly p2pAddress: string;
  readonly nodeId: string;
  readonly version: string;
  /** Height of the first block the network decides. */
  readonly initialHeight: number;
  readonly blockTimeMs: number;
};

export type CometBftModules = {
  readonly application: Application;
  /** Validators of the next block: more than two thirds of them have to be connected. */
  readonly validatorCount: () => number;
  /** Rolls the chain back to `height`. */
  readonly rollbackTo: (height: number) => void;
  /** Calls `listener` after each committed block. */
  readonly onCommitted: (listener: () => void) => () => void;
  /** A block could not be made durable: the node must stop. */
  readonly onFatal: (error: unknown) => void;
  readonly failures: Failures;
  readonly log: Logger;
};

/** Peers and status are asked for this often: ABCI tells neither. */
const POLL_MS = 2_000;

/** CometBFT in a process of its own, over the ABCI socket of the same application that the solo engine drives. */
export function createCometBftEngine(options: CometBftOptions, modules: CometBftModules): Engine {
  const { application, failures, log } = modules;
  const rpc = createEngineRpc(options.rpcAddress);
  let server: AbciServer | undefined;
  let poll: NodeJS.Timeout | undefined;
  let unsubscribe = () => {};
  let status: EngineStatus | undefined;
  let peers: readonly EnginePeer[] = [];
  let isStopping = false;

  // Which validator a peer belongs to is not known: so many nodes are needed when each validator has one.
  const hasQuorum = () => (peers.length + 1) * 3 > modules.validatorCount() * 2;
  const supervisor = new Supervisor(
    {
      ...SUPERVISOR_DEFAULTS,
      stallMs: Math.max(SUPERVISOR_DEFAULTS.stallMs, 20 * options.blockTimeMs),
    },
    {
      start: (onFault) =>
        startEngineProcess({ binary: options.binary, directory: options.directory, onFault }, log),
      height: () => application.info().height,
      rollbackTo: modules.rollbackTo,
      hasQuorum,
      log,
    },
  );

  async function refresh(): Promise<void> {
    try {
      [status, peers] = await Promise.all([rpc.status(), rpc.peers()]);
    } catch (error) {
      [status, peers] = [undefined, []];
      if (!isStopping) log.debug("CometBFT does not answer", { error });
    }
  }

  function problem(): string | undefined {
    const { state } = supervisor;
    if (state.kind === "failed") return state.reason;
    if (state.kind !== "running" || status === undefined) return "CometBFT is not running yet";
    if (!hasQuorum()) return "no quorum: too few validators are connected";
    return status.isCatchingUp ? "catching up with the network" : undefined;
  }

  return {
    async start() {
      server = await listenAbci(
        {
          path: options.abciSocket,
          onEngineLost: () => application.engineLost(),
          onFailure(error, call) {
            failures.report(`ABCI ${call}`, error);
            if (call === "commit") modules.onFatal(error);
          },
        },
        createAbciHandlers(options, application),
      );
      unsubscribe = modules.onCommitted(() => supervisor.committed());
      supervisor.start();
      poll = setInterval(
        failures.guard("CometBFT status", () => refresh()),
        POLL_MS,
      );
    },
    async stop() {
      isStopping = true;
      clearInterval(poll);
      unsubscribe();
      await supervisor.stop();
      await server?.close();
    },
    produceBlock() {
      throw new NetworkDecidesBlocksError();
    },
    network: {
      nodeId: options.nodeId,
      status: (): NetworkStatus => ({
        peerCount: peers.length,
        isListening: status !== undefined,
        listenAddress: options.p2pAddress,
        isValidator: (status?.votingPower ?? 0) > 0,
        isCatchingUp: status?.isCatchingUp ?? true,
        problem: problem(),
      }),
      peers: () => peers.map(peerOf),
      async addPeer(address) {
        await rpc.dial([address]);
      },
    },
  };
}

function peerOf({
  id,
  moniker,
  version,
  remoteIp,
  listenAddress,
  isOutbound,
}: EnginePeer): NetworkPeer {
  const port = /:(\d+)$/.exec(listenAddress)?.[1] ?? "0";
  return {
    id,
    name: moniker,
    version,
    remoteAddress: `${remoteIp}:${port}`,
    isInbound: !isOutbound,
  };
}
