import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timer, Timers } from "../../base/telemetry/timers.ts";

/** Block time that the validators agreed on, otherwise the node's own setting. */
export class Pace {
  readonly #ownMs: number;
  readonly #config: Pick<ChainConfig, "blockPeriodMs">;

  /** @param config reflects the validators' agreements */
  constructor(ownMs: number, config: Pick<ChainConfig, "blockPeriodMs">) {
    this.#ownMs = ownMs;
    this.#config = config;
  }

  get blockTimeMs(): number {
    return this.#config.blockPeriodMs ?? this.#ownMs;
  }
}

/**
 * CometBFT reads its block time only at its start, and a restart takes about two seconds: simultaneous restarts of all nodes would stop the
 * network.
 */
const SPREAD_MS = 60_000;

type PaceChangeModules = {
  /** Restarts CometBFT with a new configuration. */
  readonly restart: () => void;
  readonly log: Logger;
  readonly timers: Pick<Timers, "after">;
  /** From 0 to 1. */
  readonly random?: () => number;
};

/** Restarts CometBFT within a minute after the validators agreed on another block time. */
export class PaceChange {
  readonly #pace: Pick<Pace, "blockTimeMs">;
  readonly #modules: PaceChangeModules;
  #configuredMs: number | undefined;
  #timer: Timer | undefined;

  constructor(pace: Pick<Pace, "blockTimeMs">, modules: PaceChangeModules) {
    this.#pace = pace;
    this.#modules = modules;
  }

  /** CometBFT starts with the current pace. */
  configured(): void {
    this.#configuredMs = this.#pace.blockTimeMs;
    this.stop();
  }

  /** A block was committed. */
  committed(): void {
    const { blockTimeMs } = this.#pace;
    if (this.#configuredMs === undefined || this.#configuredMs === blockTimeMs || this.#timer) return;
    const { log, restart, timers, random = Math.random } = this.#modules;
    const inMs = Math.round(random() * SPREAD_MS);
    log.info("the validators agreed on another block time; restarting CometBFT", { blockTimeMs, inMs });
    this.#timer = timers.after(inMs, "restart for another block time", restart);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
