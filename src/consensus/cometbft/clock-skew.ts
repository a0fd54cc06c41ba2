import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Time } from "../application.ts";

/** CometBFT rejects blocks from a clock that is 60 s off; networks keep theirs within milliseconds. */
const SKEW_MS_MAX = 2_000;
/** One late block may be the network's fault. */
const BLOCKS_IN_A_ROW = 3;

export type ClockSkewModules = {
  /** Unix milliseconds. */
  readonly wallClock: () => number;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "gaugeOf">;
};

/**
 * Compares this machine's clock with the network's. The time of block H is the median clock of the validators that signed block H - 1, when they
 * did, and this node is asked to finalize H - 1 a moment later. Only for blocks that are decided now: those of a replay are older.
 */
export class ClockSkew {
  readonly #modules: ClockSkewModules;
  /** Height of the newest proposal. */
  #proposed: number | undefined;
  /** The newest block that was proposed before it was decided, and when that was. */
  #decided: { readonly height: number; readonly atMs: number } | undefined;
  #blocks = 0;
  #skewMs = 0;

  constructor(modules: ClockSkewModules) {
    this.#modules = modules;
    modules.metrics.gaugeOf(
      {
        name: "clock_skew_seconds",
        help: "This machine's clock less the median clock of the validators, at the newest block.",
      },
      () => this.#skewMs / 1000,
    );
  }

  /** Block `height` is proposed with `time`. */
  proposed(height: number, { seconds, nanos }: Time): void {
    this.#proposed = height;
    const decided = this.#decided;
    if (decided?.height !== height - 1) return;
    this.#decided = undefined;
    this.#measured(decided.atMs - seconds * 1000 - nanos / 1e6);
  }

  /** Block `height` was decided. */
  finalized(height: number): void {
    const isNew = this.#proposed === height;
    this.#decided = isNew ? { height, atMs: this.#modules.wallClock() } : undefined;
  }

  #measured(skewMs: number): void {
    this.#skewMs = skewMs;
    const isOff = Math.abs(skewMs) > SKEW_MS_MAX;
    const { log } = this.#modules;
    if (!isOff && this.#blocks >= BLOCKS_IN_A_ROW) {
      log.info("the clock agrees with the network's again", { skewMs });
    }
    this.#blocks = isOff ? this.#blocks + 1 : 0;
    if (this.#blocks !== BLOCKS_IN_A_ROW) return;
    log.error("this machine's clock differs from the network's: set it right", { skewMs });
  }
}
