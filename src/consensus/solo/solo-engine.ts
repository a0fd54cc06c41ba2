import { createHash } from "node:crypto";
import { invariant, NodeError } from "../../base/errors.ts";
import { type Address, addressToBytes } from "../../base/primitives/address.ts";
import { bigintToBytes } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { encodeRlp } from "../../base/primitives/rlp.ts";
import type { Timer, Timers } from "../../base/telemetry/timers.ts";
import type { Application, Proposal, Time } from "../application.ts";
import type { Engine } from "../engine.ts";
import { PACKING_LIMITS } from "../pack-transactions.ts";

/** Milliseconds between blocks, and before an empty block, if longer. */
type BlockInterval = { readonly intervalMs: number; readonly emptyMs?: number };

/** When blocks are made: at once for a pending transaction, only on demand, or at intervals. */
export type BlockTime = "instant" | "manual" | BlockInterval;

/** A block time that can combine both: at once for a pending transaction, and at intervals (0: never). */
export type BlockMode = { readonly automine: boolean } & BlockInterval;

function modeOf(blockTime: BlockTime): BlockMode {
  const automine = blockTime === "instant";
  return typeof blockTime === "object" ? { automine, ...blockTime } : { automine, intervalMs: 0 };
}

/**
 * Minimum seconds between the timestamps of two blocks: 1, as with anvil, Hardhat and `geth --dev`, so that other clients can import the chain.
 * Blocks at intervals below a second repeat timestamps: otherwise the chain's time would run away from the clock.
 */
export function timestampStepOf(blockTime: BlockTime): 0 | 1 {
  return typeof blockTime === "object" && blockTime.intervalMs < 1000 ? 0 : 1;
}

/** The time of the next block: the clock, but at least `step` seconds after the head. */
export function nextBlockTime(now: Time, headTimestamp: number, step: 0 | 1): Time {
  const earliest = headTimestamp + step;
  return now.seconds >= earliest ? now : { seconds: earliest, nanos: 0 };
}

type SoloEngineOptions = {
  readonly blockTime: BlockTime;
  /** Instant blocks have one transaction each while at most this many are pending, otherwise as many as fit; default: 0. */
  readonly batchAbove?: number;
  /** The only validator. */
  readonly proposer: Address;
  /** Called once if a block could not be made durable; the node must stop. */
  readonly onFatal: (error: unknown) => void;
  /** Whether a failure changed nothing, so that the block can be retried. */
  readonly isTemporary: (error: unknown) => boolean;
  /** Called with the cause when such a failure stops block production, and with undefined when it resumes. */
  readonly onStalled: (cause: unknown) => void;
  /** Milliseconds until the block is retried; default: 1000. */
  readonly retryMs?: number;
};

/**
 * A chain that takes all pending transactions at once does so until at most this share of `batchAbove` is pending: few arrive while one block is
 * made.
 */
const BATCH_END_SHARE = 1 / 8;
const RETRY_MS = 1000;
/** Maximum wait after attempts that packed no transaction: each can wait seconds for an unresponsive remote chain. */
const RETRY_MAX_MS = 60_000;

/** Shares of the interval: the pause between runs of packing ahead while transactions arrive, and the length of a run. */
const AHEAD_PAUSE_SHARE = 1 / 32;
const AHEAD_SLICE_SHARE = 1 / 64;

type SoloEngineModules = {
  readonly application: Application;
  /** Calls `listener` when the pool has new pending transactions. */
  readonly onExecutable: (listener: () => void) => () => void;
  /** Pending transactions of the pool. */
  readonly executableCount: () => number;
  /** Time for the next block. May throw errors that `isTemporary` accepts. */
  readonly now: () => Time;
  /** Unix seconds of the head; a block's time is never before it. */
  readonly headTimestamp: () => number;
  /** Called if an instant block takes no pending transaction, once until a block takes one. */
  readonly onUnpacked?: () => void;
  /** Begins blocks at intervals before they are due; not if the state can change between two blocks. */
  readonly packsAhead?: boolean;
  readonly timers: Timers;
};

/** The application rejected its own proposal, so it cannot build a valid block on the head. The log has the reason. */
export class OwnProposalRejectedError extends NodeError {
  readonly code = "CONSENSUS_OWN_PROPOSAL_REJECTED";
  constructor(details: { readonly height: number }) {
    super(`no valid block ${details.height} can be made`, details);
  }
}

/** The engine of a chain with one validator, in process: every proposal is decided. */
export class SoloEngine implements Omit<Engine, "start" | "stop"> {
  readonly network = undefined;
  /** The mode of `blockTime`. */
  readonly configuredMode: BlockMode;
  readonly #options: SoloEngineOptions;
  readonly #modules: SoloEngineModules;
  readonly #timestampStep: 0 | 1;
  #mode: BlockMode;
  #running = false;
  #timer: Timer | undefined;
  #immediate: Timer | undefined;
  #unsubscribe: readonly (() => void)[] = [];
  #retry: Timer | undefined;
  #unpackedAttempts = 0;
  #isBatching = false;
  #isStalled = false;
  /** The next block of the interval, with its due time. */
  #expected: Proposal | undefined;
  #ahead: Timer | undefined;
  #proposedAt: Time = { seconds: 0, nanos: 0 };

  constructor(options: SoloEngineOptions, modules: SoloEngineModules) {
    this.#options = options;
    this.#modules = modules;
    this.#timestampStep = timestampStepOf(options.blockTime);
    this.configuredMode = modeOf(options.blockTime);
    this.#mode = this.configuredMode;
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    const { onExecutable, packsAhead, timers } = this.#modules;
    const { automine, intervalMs } = this.#mode;
    const unsubscribe: (() => void)[] = [];
    if (automine) {
      unsubscribe.push(onExecutable(() => this.#scheduleInstant()));
      this.#scheduleInstant();
    }
    if (intervalMs > 0) {
      // The blocks of an unreachable node must not keep its program alive.
      this.#timer = timers.every(intervalMs, "block", () => this.#guarded(() => this.#produceAtInterval()));
      if (packsAhead) unsubscribe.push(onExecutable(() => this.#scheduleAhead()));
    }
    this.#unsubscribe = unsubscribe;
  }

  stop(): void {
    this.#running = false;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#timer?.cancel();
    this.#retry?.cancel();
    this.#ahead?.cancel();
    this.#ahead = undefined;
    this.#expected = undefined;
    this.#immediate?.cancel();
    this.#immediate = undefined;
  }

  /** Changes when blocks are made, from now on. */
  setMode(mode: BlockMode): void {
    this.#mode = mode;
    if (!this.#running) return;
    this.stop();
    this.start();
  }

  produceBlock(): Hash {
    const hash = this.#produce(true);
    invariant(hash, "a block that may be empty is always made");
    return hash;
  }

  /** Makes a block; undefined if it would be empty and may not be. */
  #produce(allowEmpty: boolean): Hash | undefined {
    const { application, executableCount } = this.#modules;
    if (!allowEmpty && executableCount() === 0) return undefined;
    const proposal = this.#nextProposal();
    const maxTxs = allowEmpty ? undefined : this.#instantTransactionsMax();
    const txs = application.prepareProposal({ ...proposal, maxTxBytes: PACKING_LIMITS.bytesMax, maxTxs });
    if (!allowEmpty && txs.length === 1) {
      application.engineLost();
      return undefined;
    }
    const input = { ...proposal, txs, consensusHash: consensusHash(proposal, txs) };
    if (!application.processProposal(input)) throw new OwnProposalRejectedError({ height: proposal.height });
    const { appHash } = application.finalizeBlock(input);
    application.commit();
    this.#expected = undefined;
    return appHash;
  }

  /** Maximum transactions of the next instant block; undefined: as many as fit. */
  #instantTransactionsMax(): number | undefined {
    const { batchAbove = 0 } = this.#options;
    const pending = this.#modules.executableCount();
    this.#isBatching = pending > (this.#isBatching ? batchAbove * BATCH_END_SHARE : batchAbove);
    return this.#isBatching ? undefined : 1;
  }

  /** The begun part of the expected block is used if its timestamp is the same. */
  #nextProposal(): Proposal {
    this.#proposedAt = this.#modules.now();
    const proposal = this.#proposalAt(this.#proposedAt);
    const expected = this.#expected;
    const isExpected = expected?.height === proposal.height && expected.time.seconds === proposal.time.seconds;
    return isExpected ? expected : proposal;
  }

  #proposalAt(now: Time): Proposal {
    const { proposer } = this.#options;
    const { application, headTimestamp } = this.#modules;
    return {
      height: application.info().height + 1,
      time: nextBlockTime(now, headTimestamp(), this.#timestampStep),
      proposer,
      lastCommit: { round: 0, votes: [{ address: proposer, power: 1, flag: "commit" }] },
      misbehavior: [],
    };
  }

  /** Runs `work`, and retries it later after a temporary failure. */
  #guarded(work: () => void): void {
    const { isTemporary, onFatal, onStalled, retryMs = RETRY_MS } = this.#options;
    this.#retry?.cancel();
    try {
      work();
    } catch (error) {
      if (!isTemporary(error)) {
        this.stop();
        onFatal(error);
        return;
      }
      this.#modules.application.engineLost();
      if (!this.#isStalled) onStalled(error);
      this.#isStalled = true;
      this.#retry = this.#modules.timers.after(retryMs, "block", () => this.#guarded(work));
      return;
    }
    if (this.#isStalled) onStalled(undefined);
    this.#isStalled = false;
  }

  #produceAtInterval(): void {
    const { intervalMs } = this.#mode;
    const isSkipped = this.#isTooSoonForEmpty();
    if (!isSkipped) this.#produce(true);
    if (!this.#modules.packsAhead) return;
    this.#expected = this.#proposalAt(later(isSkipped ? this.#modules.now() : this.#proposedAt, intervalMs));
    if (this.#modules.executableCount() > 0) this.#scheduleAhead();
  }

  /** Judged by the head's time, so that a start makes no block that is not due. */
  #isTooSoonForEmpty(): boolean {
    const { now, executableCount, headTimestamp } = this.#modules;
    const { emptyMs } = this.#mode;
    if (emptyMs === undefined || executableCount() > 0) return false;
    const { seconds, nanos } = now();
    return (seconds - headTimestamp()) * 1_000 + nanos / 1e6 < emptyMs;
  }

  /** Packs a part of the expected block soon. */
  #scheduleAhead(): void {
    if (!this.#running || this.#ahead !== undefined || this.#expected === undefined) return;
    const { application, timers } = this.#modules;
    const { intervalMs } = this.#mode;
    this.#ahead = timers.after(intervalMs * AHEAD_PAUSE_SHARE, "block ahead", () => {
      this.#ahead = undefined;
      // Another block can have been committed by hand.
      if (this.#expected?.height !== application.info().height + 1) return;
      const proposal = { ...this.#expected, maxTxBytes: PACKING_LIMITS.bytesMax };
      const timeMs = intervalMs * AHEAD_SLICE_SHARE;
      if (application.prepareAhead?.(proposal, timeMs)) this.#scheduleAhead();
    });
  }

  /** One block per turn of the event loop, so that requests are served between two blocks. */
  #scheduleInstant(): void {
    if (!this.#running || this.#immediate) return;
    this.#immediate = this.#modules.timers.soon("block", () => {
      this.#immediate = undefined;
      this.#guarded(() => {
        const isMade = this.#produce(false) !== undefined;
        if (isMade) this.#unpackedAttempts = 0;
        if (this.#modules.executableCount() === 0) return;
        if (isMade) this.#scheduleInstant();
        else this.#retryUnpacked();
      });
    });
  }

  /** Pending transactions that no block took, say because their remote chain does not answer. */
  #retryUnpacked(): void {
    if (this.#unpackedAttempts === 0) this.#modules.onUnpacked?.();
    const first = this.#options.retryMs ?? RETRY_MS;
    const pause = Math.min(first * 2 ** this.#unpackedAttempts++, RETRY_MAX_MS);
    this.#retry = this.#modules.timers.after(pause, "block", () => this.#scheduleInstant());
  }
}

function later({ seconds, nanos }: Time, milliseconds: number): Time {
  const total = nanos + (milliseconds % 1000) * 1e6;
  const carry = Math.floor(total / 1e9);
  return { seconds: seconds + Math.floor(milliseconds / 1000) + carry, nanos: total % 1e9 };
}

/**
 * keccak256 of RLP([height, seconds, nanos, proposer, sha256 of all transactions]), which replaces a consensus engine's block hash. The
 * transactions are hashed as one string, since their RLP delimits them.
 */
function consensusHash(proposal: Proposal, txs: readonly Uint8Array[]): Hash {
  // A single update takes a third of the time of one per transaction.
  const content = createHash("sha256").update(Buffer.concat(txs));
  return keccak256Hash(
    encodeRlp([
      bigintToBytes(BigInt(proposal.height)),
      bigintToBytes(BigInt(proposal.time.seconds)),
      bigintToBytes(BigInt(proposal.time.nanos)),
      addressToBytes(proposal.proposer),
      content.digest(),
    ]),
  );
}
