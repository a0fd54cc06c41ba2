import { isIndexDamage } from "../../chain/store/store-errors.ts";
import { type Address, parseAddress } from "../../primitives/address.ts";
import type { Failures } from "../../telemetry/failures.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { GenesisDisagreementError } from "../chain-start.ts";
import {
  type Engine,
  type EngineNetwork,
  NetworkDecidesBlocksError,
  type NetworkPeer,
  type NetworkStatus,
} from "../engine.ts";
import { OtherForkScheduleError, ProgramTooOldError } from "../evm-application.ts";
import { BlocksPrunedError, OtherBlockDecidedError, type RecordedBlocks } from "../recorded-blocks.ts";
import { type BlockWatcher, ClockSkew, HeadAge, MisbehaviorReports } from "./abci/block-watchers.ts";
import { createAbciHandlers } from "./abci/handlers.ts";
import { type AbciServer, listenAbci } from "./abci/server.ts";
import { EngineMetrics } from "./engine-metrics.ts";
import type { EngineKey } from "./home/config.ts";
import { type Pace, PaceChange } from "./pace.ts";
import { PeerLists, type PeerSettings, peerIdOf } from "./peer-lists.ts";
import type { AllowedNodesFile } from "./permissions/allowed-nodes-file.ts";
import { NodePermissions } from "./permissions/node-permissions.ts";
import type { NodesContract } from "./permissions/nodes-contract.ts";
import { type EngineFault, type EngineProcess, startEngineProcess } from "./process/engine-process.ts";
import type { StoreRollback } from "./process/store-rollback.ts";
import { SUPERVISOR_DEFAULTS, Supervisor } from "./process/supervisor.ts";
import { Redial } from "./redial.ts";
import type { EnginePeer, EngineStatus } from "./rpc/answers.ts";
import { createEngineRpc, type EngineRpc } from "./rpc/client.ts";
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
export class CometBftEngine implements Engine {
  readonly network: EngineNetwork;
  readonly #options: CometBftOptions;
  readonly #modules: CometBftModules;
  readonly #rpc: EngineRpc;
  readonly #lists: PeerLists;
  readonly #headAge: HeadAge;
  readonly #view: EngineView;
  readonly #supervisor: Supervisor;
  readonly #paceChange: PaceChange;
  readonly #permissions: NodePermissions;
  readonly #redial: Redial;
  readonly #watchers: readonly BlockWatcher[];
  /** CometBFT as state sync left it, until it is adopted. */
  #synced: SyncedEngine | undefined;
  #server: AbciServer | undefined;
  #poll: NodeJS.Timeout | undefined;
  #unsubscribers: readonly (() => void)[] = [];
  #isStopping = false;
  #ticks = 0;
  /** When the engine last got a block again that the chain has. */
  #caughtUpAt = performance.now();

  constructor(options: CometBftOptions, modules: CometBftModules) {
    this.#options = options;
    this.#modules = modules;
    this.#synced = modules.synced;
    this.#rpc = createEngineRpc(options.rpcSocket);
    this.#lists = new PeerLists(options.peers);
    this.#headAge = new HeadAge(options.pace, { wallClock: Date.now, timestamp: modules.headTimestamp });
    this.#view = this.#createView();
    this.#supervisor = this.#createSupervisor();
    const { log, metrics, signing } = modules;
    const restart = () => this.#supervisor.restart();
    this.#paceChange = new PaceChange(options.pace, { restart, log });
    this.#permissions = new NodePermissions({
      lists: this.#lists,
      seeds: options.seeds,
      file: modules.allowedNodes,
      contract: modules.nodesContract,
      isLate: () => this.#headAge.isLate,
      restart,
      metrics,
      log,
    });
    this.#redial = new Redial({
      persistent: () => this.#lists.settings.persistent,
      mayConnect: (id) => this.#permissions.mayConnect(id),
      dial: (addresses) => this.#rpc.dial(addresses, "persistent"),
      now: () => performance.now(),
      log,
    });
    this.#watchers = [
      new ClockSkew({ wallClock: Date.now, log, metrics }),
      new MisbehaviorReports({ wallClock: Date.now, metrics, log }),
      this.#headAge,
      signing,
      new EngineMetrics({ metrics, view: this.#view, supervisor: this.#supervisor, headAge: this.#headAge }),
    ];
    this.network = this.#createNetwork();
  }

  async start(): Promise<void> {
    this.#isStopping = false;
    await this.#listen();
    const { application, failures, onCommitted } = this.#modules;
    this.#unsubscribers = [
      onCommitted(() => {
        this.#view.committed();
        this.#supervisor.committed();
        this.#paceChange.committed();
      }),
      application.onCaughtUp(() => {
        this.#caughtUpAt = performance.now();
        this.#supervisor.committed();
      }),
    ];
    this.#beginWithStore();
    if (this.#supervisor.state.kind !== "failed") this.#supervisor.start();
    this.#poll = setInterval(
      failures.guard("CometBFT status", () => this.#look()),
      TICK_MS,
    );
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#poll);
    this.#permissions.close();
    this.#paceChange.stop();
    for (const unsubscribe of this.#unsubscribers) unsubscribe();
    await this.#supervisor.stop();
    await this.#server?.close();
  }

  produceBlock(): never {
    throw new NetworkDecidesBlocksError();
  }

  #createView(): EngineView {
    const { pace, retainBlocks, evidenceAgeSeconds } = this.#options;
    const { application, log } = this.#modules;
    const retain = {
      retainBlocks,
      get blockTimeMs() {
        return pace.blockTimeMs;
      },
      get evidenceAgeSeconds() {
        return evidenceAgeSeconds();
      },
    };
    return new EngineView(retain, {
      rpc: this.#rpc,
      log,
      oldestSnapshot: () => application.listSnapshots().at(-1)?.height,
      now: () => performance.now(),
    });
  }

  #createSupervisor(): Supervisor {
    const { pace } = this.#options;
    const { application, storeRollback, log } = this.#modules;
    const options = {
      ...SUPERVISOR_DEFAULTS,
      get stallMs() {
        return Math.max(SUPERVISOR_DEFAULTS.stallMs, 20 * pace.blockTimeMs);
      },
    };
    return new Supervisor(options, {
      start: (onFault) => this.#startProcess(onFault),
      height: () => application.info().height,
      storeRollback,
      quorum: () => this.#view.quorum,
      log,
    });
  }

  #startProcess(onFault: (fault: EngineFault) => void): EngineProcess {
    const adopted = this.#synced?.adopt(onFault);
    this.#synced = undefined;
    if (adopted) return adopted;
    const { configure, signing, log } = this.#modules;
    configure(this.#lists.settings, signing.prepare());
    this.#paceChange.configured();
    const { binary, directory } = this.#options;
    return startEngineProcess({ binary, directory, onFault }, log);
  }

  /** Opens the ABCI socket, or takes over that of state sync. */
  async #listen(): Promise<void> {
    const { application, failures, onFatal } = this.#modules;
    const handlers = createAbciHandlers(
      {
        ...this.#options,
        peers: this.#permissions,
        retainHeight: () => this.#view.retainHeight,
        watchers: this.#watchers,
      },
      application,
    );
    const events = {
      onEngineLost: () => application.engineLost(),
      onFailure: (error: unknown, call: string) => {
        if (isForOperator(error)) {
          this.#supervisor.giveUp(error.message);
          return;
        }
        failures.report(`ABCI ${call}`, error);
        if (call === "commit" || isIndexDamage(error)) onFatal(error);
      },
    };
    this.#server =
      this.#synced?.attach({ handlers, ...events }) ??
      (await listenAbci({ path: this.#options.abciSocket, ...events }, handlers));
  }

  /** A chain that has blocks which CometBFT has not, not even the first, answers for them again. */
  #beginWithStore(): void {
    const { isStoreLost, application } = this.#modules;
    if (!isStoreLost()) return;
    try {
      application.begin(this.#options.initialHeight - 1);
    } catch (error) {
      if (!isForOperator(error)) throw error;
      this.#supervisor.giveUp(error.message);
    }
  }

  /** Looks at CometBFT, and starts it again where its key is to sign, or another one. */
  async #look(): Promise<void> {
    const { application, signing } = this.#modules;
    this.#ticks++;
    if (!signing.isWaiting && this.#ticks % TICKS_PER_POLL !== 1) return;
    const view = this.#view;
    await view.refresh();
    const { round, peers } = view;
    const connected = peers.map(({ id }) => id);
    this.#permissions.enforce(connected);
    await this.#redial.refresh(view.status === undefined ? undefined : connected);
    // What it lacks is no reason to sign other blocks in place of those of the chain.
    const status = view.status && {
      ...view.status,
      isCatchingUp: view.status.isCatchingUp || application.behind !== undefined,
    };
    if (this.#isStopping) return;
    if (signing.observe({ status, round, peerCount: peers.length })) this.#supervisor.restart();
  }

  #createNetwork(): EngineNetwork {
    const { nodeId } = this.#options;
    const lists = this.#lists;
    const rpc = this.#rpc;
    return {
      nodeId,
      status: () => this.#status(),
      peers: () => this.#view.peers.map((peer) => peerOf(peer, lists)),
      lightBlock: (height) => rpc.lightBlock(height),
      peerSettings: () => lists.settings,
      async addPeer(address) {
        lists.add(address);
        await rpc.dial(lists.settings.persistent, "persistent");
      },
      removePeer: (id) => {
        const isConnected = this.#view.peers.some((peer) => peer.id === id);
        // No call of CometBFT ends a connection.
        if (lists.remove(id) && isConnected) this.#supervisor.restart();
      },
      async trustPeer(address) {
        lists.trust(peerIdOf(address));
        await rpc.dial([address], "unconditional");
      },
      distrustPeer: (id) => void lists.distrust(id),
    };
  }

  #status(): NetworkStatus {
    const { status, peers, step, quorum } = this.#view;
    return {
      validator: validatorOf(status),
      peerCount: peers.length,
      isListening: status !== undefined,
      listenAddress: this.#options.p2pAddress,
      isValidator: (status?.votingPower ?? 0) > 0,
      // CometBFT says nothing of it where it fetches blocks by consensus, as a validator does that others may wait for.
      isCatchingUp: (status?.isCatchingUp ?? true) || (quorum === "present" && this.#headAge.isLate),
      step,
      problem: this.#problem(),
    };
  }

  #problem(): string | undefined {
    const { application, signing } = this.#modules;
    const { state } = this.#supervisor;
    const { status, quorum } = this.#view;
    if (state.kind === "failed") return state.reason;
    if (application.behind !== undefined) return behindReason(application.behind, performance.now() - this.#caughtUpAt);
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
    if (!this.#headAge.isLate) return undefined;
    const age = `the newest block is ${Math.round(this.#headAge.ms / 1_000)} s old`;
    return `${age}: the node catches up with the network, the network makes no blocks, or the clock of this machine is ahead`;
  }
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
