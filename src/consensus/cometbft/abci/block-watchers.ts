import type { Logger } from "../../../telemetry/logger.ts";
import type { Counter, Metrics } from "../../../telemetry/metrics.ts";
import type { BlockInput } from "../../application.ts";

/** CometBFT rejects blocks from a clock that is 60 s off; networks keep theirs within milliseconds. */
const SKEW_MS_MAX = 2_000;
/** One late block may be the network's fault. */
const BLOCKS_IN_A_ROW = 3;

/** Sees blocks on their way from CometBFT to the application. */
export interface BlockWatcher {
  /** A proposal for the next block came. */
  proposed?(block: BlockInput): void;
  /** The next block is decided. */
  finalized(block: BlockInput): void;
}

type ClockSkewModules = {
  /** Unix milliseconds. */
  readonly wallClock: () => number;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "gaugeOf">;
};

/**
 * Compares this machine's clock with the network's. The time of block H is the median clock of the validators that signed block H - 1, when they
 * did, and this node is asked to finalize H - 1 a moment later. Only for blocks that are decided now: those of a replay are older.
 */
export class ClockSkew implements BlockWatcher {
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
  proposed({ height, time: { seconds, nanos } }: Pick<BlockInput, "height" | "time">): void {
    this.#proposed = height;
    const decided = this.#decided;
    if (decided?.height !== height - 1) return;
    this.#decided = undefined;
    this.#measured(decided.atMs - seconds * 1000 - nanos / 1e6);
  }

  /** Block `height` was decided. */
  finalized({ height }: Pick<BlockInput, "height">): void {
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

/**
 * Looks for proofs that a validator signed against itself in decided blocks. They change nothing on the chain: to vote it out is the decision of the
 * others (`clique_propose`).
 */
export class MisbehaviorReports implements BlockWatcher {
  readonly #log: Logger;
  readonly #proofs: Counter;

  constructor({ metrics, log }: { readonly metrics: Pick<Metrics, "counter">; readonly log: Logger }) {
    this.#log = log;
    this.#proofs = metrics.counter({
      name: "misbehavior_total",
      help: "Proofs of misbehaviour of a validator in blocks, by kind.",
      labels: ["kind"],
    });
  }

  finalized({ misbehavior, height: provenIn }: BlockInput): void {
    for (const { kind, address, height } of misbehavior) {
      this.#proofs.add(1, { kind });
      const proof = { kind, validator: address, height, provenIn };
      this.#log.error("a validator signed against itself", proof);
    }
  }
}
