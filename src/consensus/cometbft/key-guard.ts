import type { Address } from "../../base/primitives/address.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { BlockInput } from "../application.ts";
import type { EngineVote } from "./rpc/answers.ts";
import { comparePositions, SIGNING_STEPS, type SigningPosition } from "./signing/signing-state.ts";

type KeyGuardOptions = {
  /** Blocks without a signature of the key that are waited for. */
  readonly blocks: number;
  readonly blockTimeMs: number;
  /** How far the key has signed, as its home says. */
  readonly signed: SigningPosition;
};

type KeyGuardModules = {
  /** Unix milliseconds. */
  readonly wallClock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly now: () => number;
  readonly log: Logger;
};

/** What CometBFT shows of the network, while it follows. */
export type FollowedNetwork = {
  /** It fetches blocks that its peers have. */
  readonly isCatchingUp: boolean;
  readonly peerCount: number;
  /** No other validator than this one. */
  readonly isAlone: boolean;
  /** Of the height that is decided. */
  readonly votes: readonly Omit<EngineVote, "atMs">[];
};

/** Clocks of a network may differ by so much: more is an error in the log. */
const CLOCK_TOLERANCE_MS = 2_000;
/** A network that makes no block in this time may wait for this validator. Peers send the votes they have within some hundred milliseconds. */
const STANDSTILL_MS = 5_000;
/** The same, where a signature was seen that the home does not know: another node may have the key, and wait for the network too. */
const STANDSTILL_AFTER_SIGNATURE_MS = 60_000;

/**
 * Says when a validator's key may sign after the start of its node. What the home says of it proves nothing: it may be an older copy, or another
 * node may have the same key. What the network has seen is in the commits of its blocks, and in the votes that its nodes send to each other.
 *
 * A block whose time is after the start was decided after the start. So whatever an earlier node signed with this key, it is not for a height after
 * such a block. Where there is none, as the network waits for this validator, the votes that peers have of it say how far it has signed.
 */
export class KeyGuard {
  readonly #options: KeyGuardOptions;
  readonly #modules: KeyGuardModules;
  readonly #startedMs: number;
  readonly #keys = new Set<Address>();
  #signed: SigningPosition;
  /** Blocks in a row that were made after the start, and did not have a new signature of the key. */
  #blocks = 0;
  /** When the network last did something, by `now`; undefined while this node does not see that. */
  #quietSince: number | undefined;
  #hasSeenSignature = false;

  constructor(options: KeyGuardOptions, modules: KeyGuardModules) {
    this.#options = options;
    this.#modules = modules;
    this.#signed = options.signed;
    this.#startedMs = modules.wallClock();
  }

  /** Signatures of this key count. */
  watch(key: Address): void {
    this.#keys.add(key);
  }

  /** How far the key has signed, as far as home, blocks and votes say. */
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

  /** CometBFT was looked at; undefined where it does not answer. */
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
