import type { Logger } from "../../telemetry/logger.ts";
import type { EngineExit, EngineFault, EngineProcess } from "./engine-process.ts";

export type SupervisorOptions = {
  /** No block for so long, with peers that hold a quorum: the engine is restarted. */
  readonly stallMs: number;
  /** Pauses between restarts: the first, doubled each time up to the longest. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** So many equal faults at one height in a row, and the engine stays down. */
  readonly equalFaultsMax: number;
  readonly stopGraceMs: number;
};

export const SUPERVISOR_DEFAULTS: SupervisorOptions = {
  stallMs: 30_000,
  firstPauseMs: 1_000,
  longestPauseMs: 60_000,
  equalFaultsMax: 3,
  stopGraceMs: 10_000,
};

export type SupervisorModules = {
  /** Starts one run; `onFault` is called for what its log shows. */
  readonly start: (onFault: (fault: EngineFault) => void) => EngineProcess;
  /** Height of the last committed block. */
  readonly height: () => number;
  /** Rolls the chain back to `height`, because the engine's store ends there. */
  readonly rollbackTo: (height: number) => void;
  /** True when peers with more than two thirds of the votes are connected, this node included. */
  readonly hasQuorum: () => boolean;
  readonly log: Logger;
  readonly timers?: { after(ms: number, task: () => void): () => void };
};

export type EngineState =
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
  #lastFault:
    | { readonly text: string; readonly height: number; readonly count: number }
    | undefined;
  #isStopping = false;
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

  start(): void {
    this.#isStopping = false;
    this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#cancelTimer();
    this.#cancelWatch();
    await this.#process?.stop(this.#options.stopGraceMs);
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
    void run.exited.then((exit) => this.#onExit(exit));
  }

  #onFault(run: EngineProcess, fault: EngineFault): void {
    const { log } = this.#modules;
    if (fault.kind === "clock") {
      log.error("the engine rejects blocks because this machine's clock is behind", { ...fault });
      return;
    }
    if (fault.kind === "consensusFailure" || fault.kind === "diskFull") {
      log.error("consensus failed, the engine is restarted", { ...fault });
      void run.stop(this.#options.stopGraceMs);
    }
  }

  #onExit({ code, signal, fault }: EngineExit): void {
    this.#cancelWatch();
    this.#process = undefined;
    if (this.#isStopping) return;
    const { log, height } = this.#modules;
    if (fault?.kind === "applicationAhead" && !this.#hasRolledBack) {
      this.#hasRolledBack = true;
      log.warn("the engine's store ends before the chain: rolling back to it", {
        from: height(),
        to: fault.engineHeight,
      });
      try {
        this.#modules.rollbackTo(fault.engineHeight);
      } catch (error) {
        this.#fail(`cannot roll back to block ${fault.engineHeight}`, error);
        return;
      }
    }
    if (fault?.kind === "applicationBehind") {
      this.#fail(
        `the chain ends at block ${fault.height}, and the first block of CometBFT is ${fault.engineBase}: restore data/log from a copy, or remove data/ and cometbft/data/ except priv_validator_state.json`,
      );
      return;
    }
    const text = fault === undefined ? `exit ${signal ?? code}` : JSON.stringify(fault);
    if (fault !== undefined && fault.kind !== "diskFull" && this.#isRepeated(text)) {
      this.#fail(`the engine failed repeatedly: ${text}`);
      return;
    }
    const { firstPauseMs, longestPauseMs } = this.#options;
    const pauseMs = Math.min(firstPauseMs * 2 ** this.#restarts, longestPauseMs);
    this.#restarts++;
    this.restartsTotal++;
    this.#state = { kind: "restarting", restarts: this.#restarts };
    log.warn("the engine ended and is started again", { code, signal, pauseMs, cause: text });
    this.#cancelTimer = this.#after(pauseMs, () => this.#run());
  }

  #fail(reason: string, error?: unknown): void {
    this.#state = { kind: "failed", reason };
    const height = this.#modules.height();
    this.#modules.log.error("the engine stays down", { reason, height, error });
  }

  /** True for a fault of the log that came so many times at one height. A plain exit and a full disk are tried for ever. */
  #isRepeated(text: string): boolean {
    const height = this.#modules.height();
    const last = this.#lastFault;
    const count = last?.text === text && last.height === height ? last.count + 1 : 1;
    this.#lastFault = { text, height, count };
    return count >= this.#options.equalFaultsMax;
  }

  /** Restarts the engine when no block comes although the others could make them. */
  #watch(): void {
    this.#cancelWatch();
    this.#cancelWatch = this.#after(this.#options.stallMs, () => {
      const run = this.#process;
      if (run === undefined || this.#isStopping) return;
      if (this.#modules.hasQuorum()) {
        this.#modules.log.error("no block for too long, the engine is restarted", {
          height: this.#modules.height(),
          stallMs: this.#options.stallMs,
        });
        void run.stop(this.#options.stopGraceMs);
      } else this.#watch();
    });
  }
}

function afterTimeout(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
