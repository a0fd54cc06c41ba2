import type { Address } from "../../../base/primitives/address.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";
import type { Counter, Metrics } from "../../../base/telemetry/metrics.ts";
import type { BlockInput, Misbehavior } from "../../application.ts";
import type { HeadAge } from "./head-age.ts";

/** CometBFT rejects blocks from a clock that is 60 s off; networks synchronise theirs within milliseconds. */
const SKEW_MS_MAX = 2_000;
/** One late block may be the network's fault. */
const BLOCKS_IN_A_ROW = 3;

/** Observes blocks on their way from CometBFT to the application. */
export interface BlockWatcher {
  /** A proposal for the next block has arrived. */
  proposed?(block: BlockInput): void;
  /** The next block is decided. */
  finalized(block: BlockInput): void;
}

/** This many consecutive blocks mean more than a slow network: the signer has another key, or none runs. */
const UNSIGNED_BLOCKS_MAX = 16;

type OwnVotesModules = {
  /** The validator's own key. */
  readonly address: () => Address;
  readonly headAge: Pick<HeadAge, "isLate">;
};

/**
 * Whether the network gets this validator's signatures: a signer can run, answer and still have the wrong key. Must observe blocks after
 * `HeadAge`.
 */
export class OwnVotes implements BlockWatcher {
  readonly #modules: OwnVotesModules;
  /** Consecutive newest blocks without a signature of this validator. */
  unsigned = 0;
  /** No commit has a signature of this validator since CometBFT started. */
  isAwaited = true;
  #startHeight = 0;

  constructor(modules: OwnVotesModules) {
    this.#modules = modules;
  }

  /** CometBFT starts. Blocks up to now, which it may fetch again, have signatures from an earlier run. @param height of the newest block */
  started(height: number): void {
    this.isAwaited = true;
    this.#startHeight = height;
  }

  finalized({ height, lastCommit: { votes } }: Pick<BlockInput, "height" | "lastCommit">): void {
    const { address, headAge } = this.#modules;
    const own = votes.find((vote) => vote.address === address());
    if (own !== undefined && own.flag !== "absent" && height - 1 > this.#startHeight) this.isAwaited = false;
    // Blocks made while the node was away do not have its signature.
    this.unsigned = own?.flag === "absent" && !headAge.isLate ? this.unsigned + 1 : 0;
  }

  /** The problem, for an operator. */
  get problem(): string | undefined {
    if (this.unsigned < UNSIGNED_BLOCKS_MAX) return undefined;
    return `the newest ${this.unsigned} blocks have no signature of this validator's key ${this.#modules.address()}: its signer has another key or does not answer, or its votes come too late`;
  }
}

type ClockSkewModules = {
  /** Unix milliseconds. */
  readonly wallClock: () => number;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "gaugeOf">;
};

/**
 * Compares this machine's clock with the network's. The time of block H is the median clock of the validators when they signed block H - 1, and
 * this node finalizes H - 1 a moment later. Only newly decided blocks count: replayed ones are older.
 */
export class ClockSkew implements BlockWatcher {
  readonly #modules: ClockSkewModules;
  /** Height of the newest proposal. */
  #proposed: number | undefined;
  /** The newest block that was proposed before it was decided, and the time of its decision. */
  #decided: { readonly height: number; readonly atMs: number } | undefined;
  #blocks = 0;
  #skewMs = 0;

  constructor(modules: ClockSkewModules) {
    this.#modules = modules;
    modules.metrics.gaugeOf(
      {
        name: "clock_skew_seconds",
        help: "Difference between this machine's clock and the median clock of the validators at the newest block.",
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
    log.error("this machine's clock differs from the network's: correct it (NTP)", { skewMs });
  }
}

type MisbehaviorModules = Pick<ClockSkewModules, "wallClock" | "log"> & {
  readonly metrics: Pick<Metrics, "counter">;
};

/** A node that fetches old blocks reports nothing: others did when the blocks were new. */
const REPORTED_AGE_MS_MAX = 3_600_000;

/**
 * Reports proofs of double-signing in decided blocks. They have no effect unless the chain's genesis has `jail`; otherwise the other validators
 * decide whether to vote the offender out (`clique_propose`).
 */
export class MisbehaviorReports implements BlockWatcher {
  readonly #wallClock: () => number;
  readonly #log: Logger;
  readonly #proofs: Counter;

  constructor({ wallClock, metrics, log }: MisbehaviorModules) {
    this.#wallClock = wallClock;
    this.#log = log;
    this.#proofs = metrics.counter({
      name: "misbehavior_total",
      help: "Evidence of validator misbehavior in blocks, by kind.",
      labels: ["kind"],
      values: ["duplicateVote", "lightClientAttack"] satisfies readonly Misbehavior["kind"][],
    });
  }

  finalized({ misbehavior, height: provenIn, time }: BlockInput): void {
    if (this.#wallClock() - time.seconds * 1_000 > REPORTED_AGE_MS_MAX) return;
    for (const { kind, address, height } of misbehavior) {
      this.#proofs.add(1, { kind });
      const proof = { kind, validator: address, height, provenIn };
      this.#log.error("a validator double-signed", proof);
    }
  }
}
