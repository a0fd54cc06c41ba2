import type { Failures } from "../../base/telemetry/failures.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Metrics } from "../../base/telemetry/metrics.ts";
import type { Timer, Timers } from "../../base/telemetry/timers.ts";
import { isIndexDamage } from "../../chain/store-errors.ts";
import { GenesisDisagreementError } from "../chain-start.ts";
import { type Engine, type EngineNetwork, NetworkDecidesBlocksError } from "../engine.ts";
import { OtherForkScheduleError, ProgramTooOldError } from "../evm-application.ts";
import { PeerLists, type PeerSettings } from "../peer-lists.ts";
import { BlocksPrunedError, OtherBlockDecidedError, type RecordedBlocks } from "../recorded-blocks.ts";
import { type BlockWatcher, ClockSkew, MisbehaviorReports, OwnVotes } from "./abci/block-watchers.ts";
import { createAbciHandlers } from "./abci/handlers.ts";
import { HeadAge } from "./abci/head-age.ts";
import { type AbciServer, listenAbci } from "./abci/server.ts";
import { CometBftNetwork } from "./cometbft-network.ts";
import { EngineMetrics } from "./engine-metrics.ts";
import type { EngineKey } from "./home/config.ts";
import { type Pace, PaceChange } from "./pace.ts";
import { NodePermissions } from "./permissions/node-permissions.ts";
import type { NodesContract } from "./permissions/nodes-contract.ts";
import { type EngineFault, type EngineProcess, startEngineProcess } from "./process/engine-process.ts";
import type { StoreRollback } from "./process/store-rollback.ts";
import { SUPERVISOR_DEFAULTS, Supervisor } from "./process/supervisor.ts";
import { Redial } from "./redial.ts";
import { createEngineRpc, type EngineRpc } from "./rpc/client.ts";
import { EngineView } from "./rpc/engine-view.ts";
import type { SigningRole } from "./signing-role.ts";
import type { SyncedEngine } from "./state-sync.ts";

type CometBftOptions = {
  readonly binary: string;
  /** CometBFT's own home. */
  readonly directory: string;
  readonly abciSocket: string;
  /** Path of CometBFT's RPC. */
  readonly rpcSocket: string;
  /** `host:port` that peers connect to. */
  readonly p2pAddress: string;
  readonly nodeId: string;
  readonly version: string;
  /** First height that the network decides. */
  readonly initialHeight: number;
  readonly peers: PeerSettings;
  /** Ids of `cometbft.seeds`. */
  readonly seeds: readonly string[];
  readonly pace: Pace;
  /** Age limit of evidence, if the validators agreed on one. */
  readonly evidenceAgeSeconds: () => number | undefined;
  /** Number of newest blocks that the chain stores; null: all. */
  readonly retainBlocks: number | null;
};

type CometBftModules = {
  readonly application: RecordedBlocks;
  /** Whether CometBFT has no blocks. */
  readonly isStoreLost: () => boolean;
  /** Writes CometBFT's configuration; called before each of its starts. */
  readonly configure: (peers: PeerSettings, key: EngineKey) => void;
  /** The key that CometBFT signs with. */
  readonly signing: SigningRole;
  /** Rolls a chain that is ahead of CometBFT's store back to it. */
  readonly storeRollback: StoreRollback;
  readonly nodesContract: NodesContract | undefined;
  /** CometBFT as state sync left it, if it ran. */
  readonly synced: SyncedEngine | undefined;
  /** Unix time of the newest block, in seconds. */
  readonly headTimestamp: () => number;
  /** Calls `listener` after each committed block. */
  readonly onCommitted: (listener: () => void) => () => void;
  /** A block could not be made durable, or the index is damaged: the node must stop. */
  readonly onFatal: (error: unknown) => void;
  readonly failures: Failures;
  readonly timers: Timers;
  readonly metrics: Pick<Metrics, "counter" | "gaugeOf">;
  readonly log: Logger;
};

/**
 * Interval for polling peers, votes and status while a validator waits for its key to sign, and while a block is overdue: ABCI does not report
 * them.
 */
const TICK_MS = 500;
/** Otherwise polls only every n-th tick. */
const TICKS_PER_POLL = 4;

/** CometBFT as a child process, over the ABCI socket of the application that the solo engine drives as well. */
export class CometBftEngine implements Engine {
  readonly network: EngineNetwork;
  readonly #options: CometBftOptions;
  readonly #modules: CometBftModules;
  readonly #rpc: EngineRpc;
  readonly #lists: PeerLists;
  readonly #headAge: HeadAge;
  readonly #ownVotes: OwnVotes;
  readonly #view: EngineView;
  readonly #supervisor: Supervisor;
  readonly #paceChange: PaceChange;
  readonly #permissions: NodePermissions;
  readonly #redial: Redial;
  readonly #watchers: readonly BlockWatcher[];
  /** CometBFT as state sync left it, until it is adopted. */
  #synced: SyncedEngine | undefined;
  #server: AbciServer | undefined;
  #poll: Timer | undefined;
  #unsubscribers: readonly (() => void)[] = [];
  #isStopping = false;
  #ticks = 0;
  /** When the engine last received a block again that the chain already has. */
  #caughtUpAt: number;

  constructor(options: CometBftOptions, modules: CometBftModules) {
    this.#options = options;
    this.#modules = modules;
    this.#caughtUpAt = modules.timers.now();
    this.#synced = modules.synced;
    this.#rpc = createEngineRpc(options.rpcSocket, modules.timers);
    this.#lists = new PeerLists(options.peers);
    this.#headAge = new HeadAge(options.pace, {
      wallClock: Date.now,
      now: () => modules.timers.now(),
      timestamp: modules.headTimestamp,
    });
    const ownVotes = new OwnVotes({ address: () => modules.signing.address, headAge: this.#headAge });
    this.#ownVotes = ownVotes;
    this.#view = this.#createView();
    this.#supervisor = this.#createSupervisor();
    const { log, metrics, signing, timers } = modules;
    const restart = () => this.#supervisor.restart();
    this.#paceChange = new PaceChange(options.pace, { restart, log, timers });
    this.#permissions = new NodePermissions({
      lists: this.#lists,
      seeds: options.seeds,
      contract: modules.nodesContract,
      isLate: () => this.#headAge.isLate,
      restart,
      metrics,
      log,
      timers,
    });
    this.#redial = new Redial({
      persistent: () => this.#lists.settings.persistent,
      mayConnect: (id) => this.#permissions.mayConnect(id),
      dial: (addresses) => this.#rpc.dial(addresses, "persistent"),
      now: () => timers.now(),
      log,
    });
    this.#watchers = [
      new ClockSkew({ wallClock: Date.now, log, metrics }),
      new MisbehaviorReports({ wallClock: Date.now, metrics, log }),
      this.#headAge,
      ownVotes,
      signing,
      new EngineMetrics({ metrics, view: this.#view, supervisor: this.#supervisor, headAge: this.#headAge, ownVotes }),
    ];
    this.network = new CometBftNetwork(options, {
      ...modules,
      lists: this.#lists,
      rpc: this.#rpc,
      view: this.#view,
      supervisor: this.#supervisor,
      headAge: this.#headAge,
      ownVotes,
      quietMs: () => timers.now() - this.#caughtUpAt,
    });
  }

  async start(): Promise<void> {
    this.#isStopping = false;
    await this.#listen();
    const { application, timers, onCommitted } = this.#modules;
    this.#unsubscribers = [
      onCommitted(() => {
        this.#view.committed();
        this.#supervisor.committed();
        this.#paceChange.committed();
      }),
      application.onCaughtUp(() => {
        this.#caughtUpAt = timers.now();
        this.#supervisor.committed();
      }),
    ];
    this.#beginWithStore();
    if (this.#supervisor.state.kind !== "failed") this.#supervisor.start();
    this.#poll = timers.every(TICK_MS, "CometBFT status", () => this.#look(), { keepsAlive: true });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#poll?.cancel();
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
    const { application, storeRollback, log, timers } = this.#modules;
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
      timers,
    });
  }

  #startProcess(onFault: (fault: EngineFault) => void): EngineProcess {
    this.#ownVotes.started(this.#modules.application.info().height);
    this.#view.forget();
    const adopted = this.#synced?.adopt(onFault);
    this.#synced = undefined;
    if (adopted) return adopted;
    const { configure, signing, log, timers } = this.#modules;
    configure(this.#lists.settings, signing.prepare());
    this.#paceChange.configured();
    const { binary, directory } = this.#options;
    return startEngineProcess({ binary, directory, onFault }, { log, timers });
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

  /** A chain with blocks of which CometBFT lacks even the first answers for them again. */
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

  /** Polls CometBFT, and restarts it if its key may sign now, or another key should. */
  async #look(): Promise<void> {
    const { application, signing } = this.#modules;
    this.#ticks++;
    if (!signing.isWaiting && !this.#headAge.isOverdue && this.#ticks % TICKS_PER_POLL !== 1) return;
    const view = this.#view;
    await view.refresh();
    const { round, peers } = view;
    this.#headAge.observe(view.status?.isCatchingUp === false ? round : undefined);
    const connected = peers.map(({ id }) => id);
    this.#permissions.enforce(connected);
    await this.#redial.refresh(view.status === undefined ? undefined : connected);
    // Blocks that it lacks must not make it sign others in their place.
    const status = view.status && {
      ...view.status,
      isCatchingUp: view.status.isCatchingUp || application.behind !== undefined,
    };
    if (this.#isStopping) return;
    if (!signing.observe({ status, round, peerCount: peers.length })) return;
    // CometBFT was in order as a follower: the node would report ready, and an operator would stop the next validator.
    view.forget();
    this.#supervisor.restart();
  }
}

/** Errors after which the network continues without this node until its operator acts. */
function isForOperator(error: unknown): error is Error {
  return (
    error instanceof GenesisDisagreementError ||
    error instanceof OtherForkScheduleError ||
    error instanceof ProgramTooOldError ||
    error instanceof OtherBlockDecidedError ||
    error instanceof BlocksPrunedError
  );
}
