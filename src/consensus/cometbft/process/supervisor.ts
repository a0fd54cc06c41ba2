import type { Logger } from "../../../telemetry/logger.ts";
import type { Quorum } from "../rpc/engine-view.ts";
import type { EngineExit, EngineFault, EngineProcess } from "./engine-process.ts";
import type { StoreRollback } from "./store-rollback.ts";

export type SupervisorOptions = {
  /** No block for so long, though a quorum of validators votes: the engine is restarted. */
  readonly stallMs: number;
  /** After so many times `stallMs` it is restarted also where nothing is known of a quorum. */
  readonly unknownStallsMax: number;
  /** Pauses between restarts: the first, doubled each time up to the longest. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** So many equal faults at one height in a row, and the engine stays down. */
  readonly equalFaultsMax: number;
  readonly stopGraceMs: number;
};

export const SUPERVISOR_DEFAULTS: SupervisorOptions = {
  stallMs: 30_000,
  unknownStallsMax: 10,
  firstPauseMs: 1_000,
  longestPauseMs: 60_000,
  equalFaultsMax: 3,
  stopGraceMs: 10_000,
};

type SupervisorModules = {
  /** Starts one run; `onFault` is called for what its log shows. */
  readonly start: (onFault: (fault: EngineFault) => void) => EngineProcess;
  /** Height of the last committed block. */
  readonly height: () => number;
  /** Brings a chain that is ahead of the engine's store back to it. */
  readonly storeRollback: StoreRollback;
  readonly quorum: () => Quorum;
  readonly log: Logger;
  readonly timers?: { after(ms: number, task: () => void): () => void };
};

type EngineState =
  | { readonly kind: "stopped" }
  | { readonly kind: "running"; readonly pid: number | undefined }
  | { readonly kind: "restarting"; readonly restarts: number }
  /** It is not restarted. */
  | { readonly kind: "failed"; readonly reason: string };

/**
 * Keeps CometBFT running: every exit is a failure, also one with status 0, and is answered by a restart with back-off. An engine that
 * lives without making blocks is restarted too, since CometBFT keeps running, and says it is healthy, after its consensus has failed.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #modules: SupervisorModules;
  readonly #after: (ms: number, task: () => void) => () => void;
  #process: EngineProcess | undefined;
  #state: EngineState = { kind: "stopped" };
  #cancelTimer: () => void = () => {};
  #cancelWatch: () => void = () => {};
  #restarts = 0;
  #hasRolledBack = false;
  #lastFault: { readonly kind: string; readonly height: number; readonly count: number } | undefined;
  #isStopping = false;
  /** What follows the end of a run; settled while there is nothing to do. */
  #ending: Promise<void> = Promise.resolve();
  /** Restarts since the start of the node. */
  restartsTotal = 0;

  constructor(options: SupervisorOptions, modules: SupervisorModules) {
    this.#options = options;
    this.#modules = modules;
    this.#after = modules.timers?.after ?? afterTimeout;
  }

  get state(): EngineState {
    return this.#state;
  }

  /** @throws what starting the first run throws; that of a later one is tried again */
  start(): void {
    this.#isStopping = false;
    this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#cancelTimer();
    this.#cancelWatch();
    await this.#process?.stop(this.#options.stopGraceMs);
    // A rollback reads and changes the chain.
    await this.#ending;
    this.#process = undefined;
    this.#state = { kind: "stopped" };
  }

  /** Ends the engine; it is started again as after every exit. */
  restart(): void {
    void this.#process?.stop(this.#options.stopGraceMs);
  }

  /** A block was committed: the engine is well, and the next failure begins with the shortest pause. */
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

  /** A fault that the log shows while the process lives: it does nothing any more. */
  #onFault(run: EngineProcess, fault: EngineFault): void {
    this.#modules.log.error("the engine failed and is restarted", { ...fault });
    void run.stop(this.#options.stopGraceMs);
  }

  async #onExit(exit: EngineExit): Promise<void> {
    this.#cancelWatch();
    this.#process = undefined;
    if (this.#isStopping) return;
    const { fault } = exit;
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
        `the chain ends at block ${fault.height}, and the first block of CometBFT is ${fault.storeBase}: restore data/log from a copy, or remove data/ and cometbft/data/ except priv_validator_state.json`,
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
    const pauseMs = Math.min(firstPauseMs * 2 ** this.#restarts, longestPauseMs);
    this.#restarts++;
    this.restartsTotal++;
    this.#state = { kind: "restarting", restarts: this.#restarts };
    const data = { code, signal, pauseMs, fault, words };
    this.#modules.log.warn("the engine ended and is started again", data);
    this.#cancelTimer = this.#after(pauseMs, () => {
      try {
        this.#run();
      } catch (error) {
        // Its configuration could not be written, as on a full disk.
        this.#modules.log.error("the engine cannot be started", { error });
        this.#restartLater({ code: null, signal: null, fault: undefined });
      }
    });
  }

  /** @returns why the engine has to stay down; undefined where the chain ends with its store now */
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

  /** True for a kind of fault that came so many times at one height. A plain exit and a full disk are tried for ever. */
  #isRepeated({ kind }: EngineFault): boolean {
    if (kind === "diskFull") return false;
    const height = this.#modules.height();
    const last = this.#lastFault;
    const count = last?.kind === kind && last.height === height ? last.count + 1 : 1;
    this.#lastFault = { kind, height, count };
    return count >= this.#options.equalFaultsMax;
  }

  /** Restarts the engine when no block comes although the validators vote. @param unknown times in a row that nothing was known of a quorum */
  #watch(unknown = 0): void {
    this.#cancelWatch();
    const { stallMs, unknownStallsMax, stopGraceMs } = this.#options;
    this.#cancelWatch = this.#after(stallMs, () => {
      const run = this.#process;
      if (run === undefined || this.#isStopping) return;
      const quorum = this.#modules.quorum();
      const unknownNow = quorum === "unknown" ? unknown + 1 : 0;
      if (quorum !== "present" && unknownNow < unknownStallsMax) {
        this.#watch(unknownNow);
        return;
      }
      const height = this.#modules.height();
      this.#modules.log.error("no block for too long, the engine is restarted", { height, quorum });
      void run.stop(stopGraceMs);
    });
  }
}

function afterTimeout(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
