import type { Logger } from "../../../base/telemetry/logger.ts";
import type { Timer, Timers } from "../../../base/telemetry/timers.ts";
import type { Quorum } from "../rpc/engine-view.ts";
import type { EngineExit, EngineFault, EngineProcess } from "./engine-process.ts";
import type { StoreRollback } from "./store-rollback.ts";

export type SupervisorOptions = {
  /** Interval for checking an engine that makes no blocks; up to twice as long, so that nodes do not act together. */
  readonly stallMs: number;
  /** Restarts the engine after this many checks in a row, unless it is known that no quorum votes. */
  readonly stallsMax: number;
  /** Pauses between restarts: the first, which doubles up to the longest. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** After this many equal consecutive faults at one height, the engine stays down. */
  readonly equalFaultsMax: number;
  readonly stopGraceMs: number;
};

export const SUPERVISOR_DEFAULTS: SupervisorOptions = {
  stallMs: 30_000,
  stallsMax: 8,
  firstPauseMs: 1_000,
  longestPauseMs: 60_000,
  equalFaultsMax: 3,
  stopGraceMs: 10_000,
};

type SupervisorModules = {
  /** Starts one run; `onFault` is called for faults in its log. */
  readonly start: (onFault: (fault: EngineFault) => void) => EngineProcess;
  /** Height of the last committed block. */
  readonly height: () => number;
  /** Rolls a chain that is ahead of the engine's store back to it. */
  readonly storeRollback: StoreRollback;
  readonly quorum: () => Quorum;
  readonly log: Logger;
  /** [0, 1) */
  readonly random?: () => number;
  readonly timers: Pick<Timers, "after">;
};

type EngineState =
  | { readonly kind: "stopped" }
  | { readonly kind: "running"; readonly pid: number | undefined }
  | {
      readonly kind: "restarting";
      readonly restarts: number;
      /** The reason that the last run gave, or why there was no run. */
      readonly reason?: string | undefined;
    }
  /** It is not restarted. */
  | { readonly kind: "failed"; readonly reason: string };

/**
 * Keeps CometBFT running: every exit is a failure, even with status 0, and leads to a restart with back-off. An engine that runs without making
 * blocks is restarted too, since CometBFT keeps running, and reports healthy, after its consensus has failed. That happens late: an overloaded
 * network goes from round to round without a block, and restarts would only add load.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #modules: SupervisorModules;
  readonly #random: () => number;
  #process: EngineProcess | undefined;
  #state: EngineState = { kind: "stopped" };
  #pause: Timer | undefined;
  #look: Timer | undefined;
  #restarts = 0;
  #hasRolledBack = false;
  #lastFault: { readonly kind: string; readonly height: number; readonly count: number } | undefined;
  #isStopping = false;
  /** Whether the end of this run is planned, and not a failure. */
  #isPlanned = false;
  /** The work after the end of a run; settled if there is none. */
  #ending: Promise<void> = Promise.resolve();
  /** Restarts since the start of the node. */
  restartsTotal = 0;

  constructor(options: SupervisorOptions, modules: SupervisorModules) {
    this.#options = options;
    this.#modules = modules;
    this.#random = modules.random ?? Math.random;
  }

  get state(): EngineState {
    return this.#state;
  }

  /** @throws errors of starting the first run; later ones are retried */
  start(): void {
    this.#isStopping = false;
    this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#pause?.cancel();
    this.#look?.cancel();
    await this.#process?.stop(this.#options.stopGraceMs);
    // A rollback reads and changes the chain.
    await this.#ending;
    this.#process = undefined;
    this.#state = { kind: "stopped" };
  }

  /** Restarts the engine at once; one that is down starts after its pause. */
  restart(): void {
    this.#isPlanned = this.#process !== undefined;
    void this.#process?.stop(this.#options.stopGraceMs);
  }

  /** The application cannot follow the network: stops the engine for good. */
  giveUp(reason: string): void {
    if (this.#state.kind === "failed") return;
    this.#fail(reason);
    void this.#process?.stop(this.#options.stopGraceMs);
  }

  /** A block was committed: the engine works, and the next failure begins with the shortest pause. */
  committed(): void {
    this.#restarts = 0;
    this.#lastFault = undefined;
    this.#watch();
  }

  #run(): void {
    const run = this.#modules.start((fault) => this.#onFault(run, fault));
    this.#process = run;
    this.#state = { kind: "running", pid: run.pid };
    this.#watch();
    this.#ending = run.exited.then((exit) => this.#onExit(exit));
  }

  /** Handles a fault in the log of a running process that no longer works. */
  #onFault(run: EngineProcess, fault: EngineFault): void {
    if (fault.kind === "evidenceBeforeStore") {
      this.giveUp(
        `a block has evidence about a block before the snapshot this node started from (${fault.text}): remove data/ and cometbft/data/ except priv_validator_state.json, and start from a newer snapshot`,
      );
      return;
    }
    this.#modules.log.error("the engine failed; restarting it", { ...fault });
    void run.stop(this.#options.stopGraceMs);
  }

  async #onExit(exit: EngineExit): Promise<void> {
    this.#look?.cancel();
    this.#process = undefined;
    if (this.#isStopping || this.#state.kind === "failed") return;
    const isPlanned = this.#isPlanned;
    this.#isPlanned = false;
    const { fault } = exit;
    if (isPlanned && fault === undefined) {
      this.#runOrLater(exit);
      return;
    }
    if (fault?.kind === "applicationAhead") {
      this.#state = { kind: "restarting", restarts: this.#restarts };
      const reason = await this.#rollBack(fault.storeHeight);
      if (this.#isStopping) return;
      if (reason !== undefined) {
        this.#fail(reason);
        return;
      }
    }
    if (fault?.kind === "applicationBehind") {
      this.#fail(
        `the chain ends at block ${fault.height}, but CometBFT's first block is ${fault.storeBase}: restore data/log from a backup, or remove data/ and cometbft/data/ except priv_validator_state.json`,
      );
      return;
    }
    if (fault !== undefined && this.#isRepeated(fault)) {
      this.#fail(`the engine failed repeatedly: ${JSON.stringify(fault)}`);
      return;
    }
    this.#restartLater(exit);
  }

  #restartLater({ code, signal, fault, words }: EngineExit): void {
    const { firstPauseMs, longestPauseMs } = this.#options;
    // A connecting signer finds CometBFT soon only if it listens most of the time.
    const isWaiting = fault?.kind === "signerMissing";
    const pauseMs = isWaiting ? firstPauseMs : Math.min(firstPauseMs * 2 ** this.#restarts, longestPauseMs);
    if (!isWaiting) this.#restarts++;
    this.restartsTotal++;
    this.#state = { kind: "restarting", restarts: this.#restarts, reason: words };
    const data = { code, signal, pauseMs, fault, words };
    this.#modules.log.warn("the engine ended; restarting it", data);
    const start = () => this.#runOrLater({ code: null, signal: null, fault: undefined });
    this.#pause = this.#modules.timers.after(pauseMs, "start of CometBFT", start);
  }

  /** @param exit of the previous run, if the new one cannot be started */
  #runOrLater(exit: EngineExit): void {
    try {
      this.#run();
    } catch (error) {
      // Its configuration could not be written, as on a full disk, or the program has changed.
      this.#modules.log.error("the engine cannot be started", { error });
      this.#restartLater({ ...exit, words: error instanceof Error ? error.message : String(error) });
    }
  }

  /** @returns why the engine must stay down; undefined if the chain now ends with its store */
  async #rollBack(storeHeight: number): Promise<string | undefined> {
    if (this.#hasRolledBack) return "the chain is ahead of the engine's store again after a rollback";
    this.#hasRolledBack = true;
    try {
      await this.#modules.storeRollback.run(storeHeight);
      return undefined;
    } catch (error) {
      this.#modules.log.error("the chain was not rolled back", { error });
      return error instanceof Error ? error.message : String(error);
    }
  }

  #fail(reason: string): void {
    this.#state = { kind: "failed", reason };
    this.#modules.log.error("the engine stays down", { reason, height: this.#modules.height() });
  }

  /** Whether this kind of fault occurred too often at one height. A plain exit, a full disk and a missing signer are retried forever. */
  #isRepeated({ kind }: EngineFault): boolean {
    if (kind === "diskFull" || kind === "signerMissing") return false;
    const height = this.#modules.height();
    const last = this.#lastFault;
    const count = last?.kind === kind && last.height === height ? last.count + 1 : 1;
    this.#lastFault = { kind, height, count };
    return count >= this.#options.equalFaultsMax;
  }

  /** Restarts the engine if no block arrives for long. @param stalls consecutive checks without a block, though a quorum may vote */
  #watch(stalls = 0): void {
    this.#look?.cancel();
    const { stallMs, stallsMax, stopGraceMs } = this.#options;
    this.#look = this.#modules.timers.after(stallMs * (1 + this.#random()), "stall of CometBFT", () => {
      const run = this.#process;
      if (run === undefined || this.#isStopping) return;
      const quorum = this.#modules.quorum();
      const stallsNow = quorum === "absent" ? 0 : stalls + 1;
      if (stallsNow < stallsMax) {
        this.#watch(stallsNow);
        return;
      }
      const height = this.#modules.height();
      this.#modules.log.error("no block for too long; restarting the engine", { height, quorum });
      void run.stop(stopGraceMs);
    });
  }
}
