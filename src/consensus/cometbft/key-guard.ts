import type { Address } from "../../base/primitives/address.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { BlockInput } from "../application.ts";
import type { EngineVote } from "./rpc/answers.ts";
import { comparePositions, SIGNING_STEPS, type SigningPosition } from "./signing/signing-state.ts";

type KeyGuardOptions = {
  /** Blocks without a signature of the key to wait for. */
  readonly blocks: number;
  readonly blockTimeMs: number;
  /** The key's signing position in its home. */
  readonly signed: SigningPosition;
};

type KeyGuardModules = {
  /** Unix milliseconds. */
  readonly wallClock: () => number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly log: Logger;
};

/** CometBFT's view of the network while it follows. */
export type FollowedNetwork = {
  /** It fetches blocks that its peers have. */
  readonly isCatchingUp: boolean;
  readonly peerCount: number;
  /** Whether this is the only validator. */
  readonly isAlone: boolean;
  /** Votes at the current height. */
  readonly votes: readonly Omit<EngineVote, "atMs">[];
};

/** Tolerated clock difference in a network: a greater one is logged as an error. */
const CLOCK_TOLERANCE_MS = 2_000;
/** A network without a block in this time may wait for this validator. Peers send their votes within a few hundred milliseconds. */
const STANDSTILL_MS = 5_000;
/** STANDSTILL_MS after a signature that the home does not know: another node may have the key, and wait for the network too. */
const STANDSTILL_AFTER_SIGNATURE_MS = 60_000;

/**
 * Decides when a validator's key may sign after the start of its node. The home's signing state proves nothing: it may be an old copy, or
 * another node may have the same key. Commits of blocks, and the votes that nodes exchange, show what the network has seen.
 *
 * A block whose time is after the start was decided after the start. So an earlier node's signatures with this key are not for a later height.
 * If there is no such block because the network waits for this validator, its peers' votes show how far the key has signed.
 */
export class KeyGuard {
  readonly #options: KeyGuardOptions;
  readonly #modules: KeyGuardModules;
  readonly #startedMs: number;
  readonly #keys = new Set<Address>();
  #signed: SigningPosition;
  /** Consecutive blocks made after the start without a new signature of the key. */
  #blocks = 0;
  /** When the network last made progress, by `now`; undefined while this node cannot tell. */
  #quietSince: number | undefined;
  #hasSeenSignature = false;

  constructor(options: KeyGuardOptions, modules: KeyGuardModules) {
    this.#options = options;
    this.#modules = modules;
    this.#signed = options.signed;
    this.#startedMs = modules.wallClock();
  }

  /** Watches signatures of this key too. */
  watch(key: Address): void {
    this.#keys.add(key);
  }

  /** The key's signing position according to home, blocks and votes. */
  get signed(): SigningPosition {
    return this.#signed;
  }

  /** Block `height` is decided. */
  finalized({ height, time, lastCommit }: Pick<BlockInput, "height" | "time" | "lastCommit">): void {
    const isNew = time.seconds * 1_000 + time.nanos / 1e6 > this.#startedMs + CLOCK_TOLERANCE_MS;
    if (isNew) this.#blocks++;
    if (this.#quietSince !== undefined) this.#quietSince = this.#modules.now();
    const isSigned = lastCommit.votes.some(({ address, flag }) => flag !== "absent" && this.#keys.has(address));
    if (isSigned) this.#saw({ height: height - 1, round: lastCommit.round, step: SIGNING_STEPS.precommit });
  }

  /** CometBFT was polled; undefined if it does not answer. */
  observe(network: FollowedNetwork | undefined): void {
    const sees = network !== undefined && (network.isAlone || (!network.isCatchingUp && network.peerCount > 0));
    if (!sees) {
      this.#quietSince = undefined;
      return;
    }
    this.#quietSince ??= this.#modules.now();
    for (const { voter, height, round, kind } of network.votes) {
      // CometBFT shows the beginning of an address.
      const isOwn = [...this.#keys].some((key) => key.slice(2, 2 + voter.length) === voter);
      if (isOwn) this.#saw({ height, round, step: SIGNING_STEPS[kind] });
    }
  }

  /** Why the key does not sign yet; undefined once it may. */
  get reason(): string | undefined {
    const { blocks } = this.#options;
    if (this.#quietSince === undefined) return "it waits until it knows the state of the network";
    if (this.#blocks >= blocks || this.#modules.now() - this.#quietSince >= this.#standstillMs) return undefined;
    return this.#hasSeenSignature
      ? `another or an earlier node signed height ${this.#signed.height} with its key: it waits for ${blocks} blocks without that key's signature`
      : `it waits for ${blocks} blocks without its key's signature`;
  }

  get #standstillMs(): number {
    const { blocks, blockTimeMs } = this.#options;
    const quietMs = this.#hasSeenSignature ? STANDSTILL_AFTER_SIGNATURE_MS : STANDSTILL_MS;
    return Math.max(quietMs, blocks * blockTimeMs);
  }

  #saw(position: SigningPosition): void {
    if (comparePositions(position, this.#signed) <= 0) return;
    const { log, now } = this.#modules;
    if (!this.#hasSeenSignature) {
      log.warn("the network has signatures of this node's key that the node did not record", {
        signed: this.#signed,
        seen: position,
      });
    }
    this.#signed = position;
    this.#hasSeenSignature = true;
    this.#blocks = 0;
    if (this.#quietSince !== undefined) this.#quietSince = now();
  }
}
