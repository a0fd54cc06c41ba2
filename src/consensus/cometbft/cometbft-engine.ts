import { isIndexDamage } from "../../chain/store/store-errors.ts";
import { type Address, parseAddress } from "../../primitives/address.ts";
import type { Failures } from "../../telemetry/failures.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { GenesisDisagreementError } from "../chain-start.ts";
import { type Engine, NetworkDecidesBlocksError, type NetworkPeer, type NetworkStatus } from "../engine.ts";
import { OtherForkScheduleError, ProgramTooOldError } from "../evm-application.ts";
import { BlocksPrunedError, OtherBlockDecidedError, type RecordedBlocks } from "../recorded-blocks.ts";
import { ClockSkew, HeadAge, MisbehaviorReports } from "./abci/block-watchers.ts";
import { createAbciHandlers } from "./abci/handlers.ts";
import { type AbciServer, listenAbci } from "./abci/server.ts";
import { EngineMetrics } from "./engine-metrics.ts";
import type { EngineKey } from "./home/config.ts";
import { type Pace, PaceChange } from "./pace.ts";
import { PeerLists, type PeerSettings, peerIdOf } from "./peer-lists.ts";
import type { AllowedNodesFile } from "./permissions/allowed-nodes-file.ts";
import { NodePermissions } from "./permissions/node-permissions.ts";
import type { NodesContract } from "./permissions/nodes-contract.ts";
import { startEngineProcess } from "./process/engine-process.ts";
import type { StoreRollback } from "./process/store-rollback.ts";
import { SUPERVISOR_DEFAULTS, Supervisor } from "./process/supervisor.ts";
import { Redial } from "./redial.ts";
import type { EnginePeer, EngineStatus } from "./rpc/answers.ts";
import { createEngineRpc } from "./rpc/client.ts";
import { EngineView } from "./rpc/engine-view.ts";
import type { SigningRole } from "./signing/signing-role.ts";
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
  /** Ids of `cometbft.seeds`. */
  readonly seeds: readonly string[];
  readonly pace: Pace;
  /** How long CometBFT accepts evidence, where the validators agreed on it. */
  readonly evidenceAgeSeconds: () => number | undefined;
  /** Newest blocks that the chain stores; null: all of them. */
  readonly retainBlocks: number | null;
};

type CometBftModules = {
  readonly application: RecordedBlocks;
  /** CometBFT has no blocks. */
  readonly isStoreLost: () => boolean;
  /** Writes CometBFT's configuration; called before each start of it. */
  readonly configure: (peers: PeerSettings, key: EngineKey) => void;
  /** The key that CometBFT signs with. */
  readonly signing: SigningRole;
  /** Brings a chain that is ahead of CometBFT's store back to it. */
  readonly storeRollback: StoreRollback;
  /** undefined: there is no list of allowed nodes in a file, or in a contract */
  readonly allowedNodes: AllowedNodesFile | undefined;
  readonly nodesContract: NodesContract | undefined;
  /** CometBFT as state sync left it, if there was one. */
  readonly synced: SyncedEngine | undefined;
  /** Unix time of the newest block, in seconds. */
  readonly headTimestamp: () => number;
  /** Calls `listener` after each committed block. */
  readonly onCommitted: (listener: () => void) => () => void;
  /** A block could not be made durable, or the index is damaged: the node must stop. */
  readonly onFatal: (error: unknown) => void;
  readonly failures: Failures;
  readonly metrics: Pick<Metrics, "counter" | "gaugeOf">;
  readonly log: Logger;
};

/** Peers, votes and status are asked for this often while a validator waits for its key to sign: ABCI tells none of them. */
const TICK_MS = 500;
/** Otherwise only so often. */
const TICKS_PER_POLL = 4;

/** CometBFT in a process of its own, over the ABCI socket of the same application that the solo engine drives. */
export function createCometBftEngine(options: CometBftOptions, modules: CometBftModules): Engine {
  const { failures, log, metrics, signing } = modules;
  const { application } = modules;
  const headAge = new HeadAge(options.pace, { wallClock: Date.now, timestamp: modules.headTimestamp });
  const rpc = createEngineRpc(options.rpcSocket);
  let server: AbciServer | undefined;
  let poll: NodeJS.Timeout | undefined;
  let isStopping = false;
  let ticks = 0;
  let unsubscribe = () => {};
  const now = () => performance.now();
  /** When the engine last got a block again that the chain has. */
  let caughtUpAt = now();
  const lists = new PeerLists(options.peers);
  let { synced } = modules;
  const { pace } = options;
  const retain = {
    retainBlocks: options.retainBlocks,
    get blockTimeMs() {
      return pace.blockTimeMs;
    },
    get evidenceAgeSeconds() {
      return options.evidenceAgeSeconds();
    },
  };
  const view = new EngineView(retain, {
    rpc,
    log,
    oldestSnapshot: () => application.listSnapshots().at(-1)?.height,
    now: () => performance.now(),
  });
  const supervisor = new Supervisor(
    {
      ...SUPERVISOR_DEFAULTS,
      get stallMs() {
        return Math.max(SUPERVISOR_DEFAULTS.stallMs, 20 * pace.blockTimeMs);
      },
    },
    {
      start(onFault) {
        const adopted = synced?.adopt(onFault);
        synced = undefined;
        if (adopted) return adopted;
        modules.configure(lists.settings, signing.prepare());
        paceChange.configured();
        const { binary, directory } = options;
        return startEngineProcess({ binary, directory, onFault }, log);
      },
      height: () => application.info().height,
      storeRollback: modules.storeRollback,
      quorum: () => view.quorum,
      log,
    },
  );

  const paceChange = new PaceChange(pace, { restart: () => supervisor.restart(), log });
  const permissions = new NodePermissions({
    lists,
    seeds: options.seeds,
    file: modules.allowedNodes,
    contract: modules.nodesContract,
    isLate: () => headAge.isLate,
    restart: () => supervisor.restart(),
    metrics,
    log,
  });

  const redial = new Redial({
    persistent: () => lists.settings.persistent,
    mayConnect: (id) => permissions.mayConnect(id),
    dial: (addresses) => rpc.dial(addresses, "persistent"),
    now: () => performance.now(),
    log,
  });

  const watchers = [
    new ClockSkew({ wallClock: Date.now, log, metrics }),
    new MisbehaviorReports({ wallClock: Date.now, metrics, log }),
    headAge,
    signing,
    new EngineMetrics({ metrics, view, supervisor, headAge }),
  ];

  /** CometBFT says nothing of it where it fetches blocks by consensus, as a validator does that others may wait for. */
  const isCatchingUp = () => (view.status?.isCatchingUp ?? true) || (view.quorum === "present" && headAge.isLate);

  function problem(): string | undefined {
    const { state } = supervisor;
    const { status, quorum } = view;
    if (state.kind === "failed") return state.reason;
    if (application.behind !== undefined) return behindReason(application.behind, now() - caughtUpAt);
    if (state.kind !== "running" || status === undefined) {
      const { awaitedSigner } = signing;
      return awaitedSigner === undefined
        ? "CometBFT is not running yet"
        : `CometBFT is not running yet: it waits for the remote signer at ${awaitedSigner}`;
    }
    // A validator that is alone has nobody to catch up with.
    if (status.isCatchingUp && !signing.isWaiting) return "catching up with the network";
    if (signing.reason !== undefined) return `this validator does not sign: ${signing.reason}`;
    if (quorum !== "present") return "no quorum: validators with too little voting power take part";
    if (!headAge.isLate) return undefined;
    const age = `the newest block is ${Math.round(headAge.ms / 1_000)} s old`;
    return `${age}: the node catches up with the network, the network makes no blocks, or the clock of this machine is ahead`;
  }

  /** A chain that has blocks which CometBFT has not, not even the first, answers for them again. */
  function beginWithStore(): void {
    if (!modules.isStoreLost()) return;
    try {
      application.begin(options.initialHeight - 1);
    } catch (error) {
      if (!isForOperator(error)) throw error;
      supervisor.giveUp(error.message);
    }
  }

  /** Looks at CometBFT, and starts it again where its key is to sign, or another one. */
  async function look(): Promise<void> {
    ticks++;
    if (!signing.isWaiting && ticks % TICKS_PER_POLL !== 1) return;
    await view.refresh();
    const { round, peers } = view;
    const connected = peers.map(({ id }) => id);
    permissions.enforce(connected);
    await redial.refresh(view.status === undefined ? undefined : connected);
    // What it lacks is no reason to sign other blocks in place of those of the chain.
    const status = view.status && {
      ...view.status,
      isCatchingUp: view.status.isCatchingUp || application.behind !== undefined,
    };
    if (!isStopping && signing.observe({ status, round, peerCount: peers.length })) supervisor.restart();
  }

  return {
    async start() {
      isStopping = false;
      const handlers = createAbciHandlers(
        { ...options, peers: permissions, retainHeight: () => view.retainHeight, watchers },
        application,
      );
      const events = {
        onEngineLost: () => application.engineLost(),
        onFailure(error: unknown, call: string) {
          if (isForOperator(error)) {
            supervisor.giveUp(error.message);
            return;
          }
          failures.report(`ABCI ${call}`, error);
          if (call === "commit" || isIndexDamage(error)) modules.onFatal(error);
        },
      };
      server =
        synced?.attach({ handlers, ...events }) ??
        (await listenAbci({ path: options.abciSocket, ...events }, handlers));
      const unsubscribers = [
        modules.onCommitted(() => {
          view.committed();
          supervisor.committed();
          paceChange.committed();
        }),
        application.onCaughtUp(() => {
          caughtUpAt = now();
          supervisor.committed();
        }),
      ];
      unsubscribe = () => {
        for (const each of unsubscribers) each();
      };
      beginWithStore();
      if (supervisor.state.kind !== "failed") supervisor.start();
      poll = setInterval(failures.guard("CometBFT status", look), TICK_MS);
    },
    async stop() {
      isStopping = true;
      clearInterval(poll);
      permissions.close();
      paceChange.stop();
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
        isCatchingUp: isCatchingUp(),
        step: view.step,
        problem: problem(),
      }),
      peers: () => view.peers.map((peer) => peerOf(peer, lists)),
      lightBlock: (height) => rpc.lightBlock(height),
      peerSettings: () => lists.settings,
      async addPeer(address) {
        lists.add(address);
        await rpc.dial(lists.settings.persistent, "persistent");
      },
      removePeer(id) {
        const isConnected = view.peers.some((peer) => peer.id === id);
        // No call of CometBFT ends a connection.
        if (lists.remove(id) && isConnected) supervisor.restart();
      },
      async trustPeer(address) {
        lists.trust(peerIdOf(address));
        await rpc.dial([address], "unconditional");
      },
      distrustPeer: (id) => void lists.distrust(id),
    },
  };
}

/** The engine waits this long for a block before the reason says what an operator can do. */
const CATCH_UP_QUIET_MS = 60_000;

function behindReason({ height, head }: { readonly height: number; readonly head: number }, quietMs: number): string {
  const what = `CometBFT gets blocks ${height + 1} to ${head} again, which this chain has`;
  if (quietMs < CATCH_UP_QUIET_MS) return what;
  return `${what}; no peer sent one for ${Math.round(quietMs / 1_000)} s. Where none has them: set cometbft.state-sync-servers, or give up the blocks after ${height} with "evmintd rollback --to ${height}", or a larger cometbft.rollback-blocks`;
}

/** The network goes on without this node until its operator has done something. */
function isForOperator(error: unknown): error is Error {
  return (
    error instanceof GenesisDisagreementError ||
    error instanceof OtherForkScheduleError ||
    error instanceof ProgramTooOldError ||
    error instanceof OtherBlockDecidedError ||
    error instanceof BlocksPrunedError
  );
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
