import { type Address, parseAddress } from "../../primitives/address.ts";
import type { Failures } from "../../telemetry/failures.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Application } from "../application.ts";
import { type Engine, NetworkDecidesBlocksError, type NetworkPeer, type NetworkStatus } from "../engine.ts";
import { ClockSkew, MisbehaviorReports } from "./abci/block-watchers.ts";
import { createAbciHandlers } from "./abci/handlers.ts";
import { type AbciServer, listenAbci } from "./abci/server.ts";
import { PeerLists, type PeerSettings, peerIdOf } from "./peer-lists.ts";
import { startEngineProcess } from "./process/engine-process.ts";
import type { StoreRollback } from "./process/store-rollback.ts";
import { SUPERVISOR_DEFAULTS, Supervisor } from "./process/supervisor.ts";
import type { EnginePeer, EngineStatus } from "./rpc/answers.ts";
import { createEngineRpc } from "./rpc/client.ts";
import { EngineView } from "./rpc/engine-view.ts";
import type { SyncedEngine } from "./state-sync.ts";

type CometBftOptions = {
  readonly binary: string;
  /** CometBFT's own home. */
  readonly directory: string;
  readonly abciSocket: string;
  /** Path of CometBFT's RPC. */
  readonly rpcSocket: string;
  /** `host:port` peers connect to. */
  readonly p2pAddress: string;
  readonly nodeId: string;
  readonly version: string;
  /** Height of the first block the network decides. */
  readonly initialHeight: number;
  readonly peers: PeerSettings;
  readonly blockTimeMs: number;
  /** Newest blocks that the chain stores; null: all of them. */
  readonly retainBlocks: number | null;
};

type CometBftModules = {
  readonly application: Application;
  /** Writes CometBFT's configuration; called before each start of it. */
  readonly configure: (peers: PeerSettings) => void;
  /** Brings a chain that is ahead of CometBFT's store back to it. */
  readonly storeRollback: StoreRollback;
  /** CometBFT as state sync left it, if there was one. */
  readonly synced: SyncedEngine | undefined;
  /** Calls `listener` after each committed block. */
  readonly onCommitted: (listener: () => void) => () => void;
  /** A block could not be made durable: the node must stop. */
  readonly onFatal: (error: unknown) => void;
  readonly failures: Failures;
  readonly metrics: Pick<Metrics, "counter" | "gaugeOf">;
  readonly log: Logger;
};

/** Peers and status are asked for this often: ABCI tells neither. */
const POLL_MS = 2_000;

/** CometBFT in a process of its own, over the ABCI socket of the same application that the solo engine drives. */
export function createCometBftEngine(options: CometBftOptions, modules: CometBftModules): Engine {
  const { failures, log, metrics } = modules;
  const { application } = modules;
  const watchers = [new ClockSkew({ wallClock: Date.now, log, metrics }), new MisbehaviorReports({ metrics, log })];
  const rpc = createEngineRpc(options.rpcSocket);
  let server: AbciServer | undefined;
  let poll: NodeJS.Timeout | undefined;
  let unsubscribe = () => {};
  const lists = new PeerLists(options.peers);
  let { synced } = modules;
  const view = new EngineView(options, {
    rpc,
    log,
    oldestSnapshot: () => application.listSnapshots().at(-1)?.height,
    now: () => performance.now(),
  });
  const supervisor = new Supervisor(
    {
      ...SUPERVISOR_DEFAULTS,
      stallMs: Math.max(SUPERVISOR_DEFAULTS.stallMs, 20 * options.blockTimeMs),
    },
    {
      start(onFault) {
        const adopted = synced?.adopt(onFault);
        synced = undefined;
        if (adopted) return adopted;
        modules.configure(lists.settings);
        const { binary, directory } = options;
        return startEngineProcess({ binary, directory, onFault }, log);
      },
      height: () => application.info().height,
      storeRollback: modules.storeRollback,
      quorum: () => view.quorum,
      log,
    },
  );

  function problem(): string | undefined {
    const { state } = supervisor;
    const { status, quorum } = view;
    if (state.kind === "failed") return state.reason;
    if (state.kind !== "running" || status === undefined) return "CometBFT is not running yet";
    if (status.isCatchingUp) return "catching up with the network";
    return quorum === "present" ? undefined : "no quorum: validators with too little voting power take part";
  }

  return {
    async start() {
      const handlers = createAbciHandlers(
        { ...options, peers: lists, retainHeight: () => view.retainHeight, watchers },
        application,
      );
      const events = {
        onEngineLost: () => application.engineLost(),
        onFailure(error: unknown, call: string) {
          failures.report(`ABCI ${call}`, error);
          if (call === "commit") modules.onFatal(error);
        },
      };
      server =
        synced?.attach({ handlers, ...events }) ??
        (await listenAbci({ path: options.abciSocket, ...events }, handlers));
      unsubscribe = modules.onCommitted(() => {
        view.committed();
        supervisor.committed();
      });
      supervisor.start();
      poll = setInterval(
        failures.guard("CometBFT status", () => view.refresh()),
        POLL_MS,
      );
    },
    async stop() {
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
        validator: validatorOf(view.status),
        peerCount: view.peers.length,
        isListening: view.status !== undefined,
        listenAddress: options.p2pAddress,
        isValidator: (view.status?.votingPower ?? 0) > 0,
        isCatchingUp: view.status?.isCatchingUp ?? true,
        step: view.step,
        problem: problem(),
      }),
      peers: () => view.peers.map((peer) => peerOf(peer, lists)),
      lightBlock: (height) => rpc.lightBlock(height),
      peerSettings: () => lists.settings,
      async addPeer(address) {
        lists.add(address);
        await rpc.dial(address, "persistent");
      },
      removePeer(id) {
        const isConnected = view.peers.some((peer) => peer.id === id);
        // No call of CometBFT ends a connection.
        if (lists.remove(id) && isConnected) supervisor.restart();
      },
      async trustPeer(address) {
        lists.trust(peerIdOf(address));
        await rpc.dial(address, "unconditional");
      },
      distrustPeer: (id) => void lists.distrust(id),
    },
  };
}

function validatorOf(status: EngineStatus | undefined): Address | undefined {
  if (status === undefined || status.votingPower === 0) return undefined;
  return parseAddress(`0x${status.validatorAddress}`);
}

function peerOf(peer: EnginePeer, lists: PeerLists): NetworkPeer {
  const { id, moniker, version, remoteIp, listenAddress, isOutbound } = peer;
  const port = /:(\d+)$/.exec(listenAddress)?.[1] ?? "0";
  return {
    id,
    name: moniker,
    version,
    remoteAddress: `${remoteIp}:${port}`,
    isInbound: !isOutbound,
    isTrusted: lists.isTrusted(id),
    isStatic: lists.isPersistent(id),
  };
}
