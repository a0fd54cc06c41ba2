import { createHash } from "node:crypto";
import { invariant, NodeError } from "../../errors.ts";
import { type Address, addressToBytes } from "../../primitives/address.ts";
import { bigintToBytes } from "../../primitives/bytes.ts";
import type { Hash } from "../../primitives/hash.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { encodeRlp } from "../../primitives/rlp.ts";
import type { Application, Proposal, Time } from "../application.ts";
import type { Engine } from "../engine.ts";
import { PACKING_LIMITS } from "../pack-transactions.ts";
import {
  type BlockMode,
  type BlockTime,
  modeOf,
  nextBlockTime,
  timestampStepOf,
} from "./block-time.ts";

export type SoloEngineOptions = {
  readonly blockTime: BlockTime;
  /** The one validator. */
  readonly proposer: Address;
  /** Called once when a block could not be made durable; the node must stop. */
  readonly onFatal: (error: unknown) => void;
  /** True for a failure that changed nothing, so that the block may be tried again. */
  readonly isTemporary: (error: unknown) => boolean;
  /** Called when such a failure stops block production, and with undefined when it resumes. */
  readonly onStalled: (cause: unknown) => void;
  /** Milliseconds until the block is tried again; default 1000. */
  readonly retryMs?: number;
};

const RETRY_MS = 1000;
/** Most of that time after attempts that packed no transaction: each can wait seconds for a remote chain that does not answer. */
const RETRY_MAX_MS = 60_000;

/** Shares of the interval: how often a block is packed ahead while transactions come, and for how long at a time. */
const AHEAD_PAUSE_SHARE = 1 / 32;
const AHEAD_SLICE_SHARE = 1 / 64;

export type SoloEngineModules = {
  readonly application: Application;
  /** Calls `listener` when the pool has new pending transactions. */
  readonly onExecutable: (listener: () => void) => () => void;
  /** False when the pool has no pending transaction. */
  readonly hasExecutable: () => boolean;
  /** Time for the next block. May throw what `isTemporary` accepts. */
  readonly now: () => Time;
  /** Unix seconds of the head; a block's time is never before it. */
  readonly headTimestamp: () => number;
  /** Blocks at intervals are begun before they are due; not where the state can change between two blocks. */
  readonly packsAhead?: boolean;
};

/** The application rejected a proposal of its own: no valid block follows the head. Its log says why. */
export class OwnProposalRejectedError extends NodeError {
  readonly code = "CONSENSUS_OWN_PROPOSAL_REJECTED";
  constructor(details: { readonly height: number }) {
    super(`no valid block ${details.height} can be made`, details);
  }
}

export type SoloEngine = Omit<Engine, "start" | "stop"> & {
  start(): void;
  stop(): void;
  /** As `blockTime` has it. */
  readonly configuredMode: BlockMode;
  /** Changes when blocks are made, from now on. */
  setMode(mode: BlockMode): void;
};

/** The engine of a chain with one validator, in process: every proposal is decided. */
export function createSoloEngine(
  options: SoloEngineOptions,
  modules: SoloEngineModules,
): SoloEngine {
  const { application } = modules;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;
  let unsubscribe: (() => void) | undefined;
  let unsubscribeAhead: (() => void) | undefined;
  let retry: NodeJS.Timeout | undefined;
  let unpackedAttempts = 0;
  let running = false;
  let isStalled = false;
  const timestampStep = timestampStepOf(options.blockTime);
  const configuredMode = modeOf(options.blockTime);
  let mode = configuredMode;
  /** The next block of the interval, with the time at which it is due. */
  let expected: Proposal | undefined;
  let ahead: NodeJS.Timeout | undefined;
  let proposedAt: Time = { seconds: 0, nanos: 0 };

  /** Makes a block; undefined when it would be empty and must not be. */
  function produce(allowEmpty: boolean): Hash | undefined {
    if (!allowEmpty && !modules.hasExecutable()) return undefined;
    const proposal = nextProposal();
    const txs = application.prepareProposal({ ...proposal, maxTxBytes: PACKING_LIMITS.bytesMax });
    if (!allowEmpty && txs.length === 1) {
      application.engineLost();
      return undefined;
    }
    const input = { ...proposal, txs, consensusHash: consensusHash(proposal, txs) };
    if (!application.processProposal(input))
      throw new OwnProposalRejectedError({ height: proposal.height });
    const { appHash } = application.finalizeBlock(input);
    application.commit();
    expected = undefined;
    return appHash;
  }

  /** What is begun of the expected block is used where that has the same timestamp. */
  function nextProposal(): Proposal {
    proposedAt = modules.now();
    const proposal = proposalAt(proposedAt);
    const isExpected =
      expected?.height === proposal.height && expected.time.seconds === proposal.time.seconds;
    return isExpected ? expected! : proposal;
  }

  function proposalAt(now: Time): Proposal {
    return {
      height: application.info().height + 1,
      time: nextBlockTime(now, modules.headTimestamp(), timestampStep),
      proposer: options.proposer,
      lastCommit: { round: 0, votes: [{ address: options.proposer, power: 1, flag: "commit" }] },
      misbehavior: [],
    };
  }

  /** Runs `work`, and again later after a temporary failure. */
  function guarded(work: () => void): void {
    clearTimeout(retry);
    try {
      work();
    } catch (error) {
      if (!options.isTemporary(error)) {
        stop();
        options.onFatal(error);
        return;
      }
      application.engineLost();
      if (!isStalled) options.onStalled(error);
      isStalled = true;
      retry = setTimeout(() => guarded(work), options.retryMs ?? RETRY_MS);
      return;
    }
    if (isStalled) options.onStalled(undefined);
    isStalled = false;
  }

  function produceAtInterval(): void {
    produce(true);
    if (!modules.packsAhead) return;
    expected = proposalAt(later(proposedAt, mode.intervalMs));
    if (modules.hasExecutable()) scheduleAhead();
  }

  /** Packs a part of the expected block soon. */
  function scheduleAhead(): void {
    if (!running || ahead !== undefined || expected === undefined) return;
    ahead = setTimeout(() => {
      ahead = undefined;
      // Another block can have been committed by hand.
      if (expected?.height !== application.info().height + 1) return;
      const proposal = { ...expected, maxTxBytes: PACKING_LIMITS.bytesMax };
      const timeMs = mode.intervalMs * AHEAD_SLICE_SHARE;
      if (application.prepareAhead?.(proposal, timeMs)) scheduleAhead();
    }, mode.intervalMs * AHEAD_PAUSE_SHARE);
  }

  /** One block per turn of the event loop, so that requests are served between two blocks. */
  function scheduleInstant(): void {
    if (!running || immediate) return;
    immediate = setImmediate(() => {
      immediate = undefined;
      guarded(() => {
        if (produce(false) !== undefined) {
          unpackedAttempts = 0;
          scheduleInstant();
        } else if (modules.hasExecutable()) retryUnpacked();
      });
    });
  }

  /** Pending transactions that no block took, such as those that need a remote chain which does not answer. */
  function retryUnpacked(): void {
    const first = options.retryMs ?? RETRY_MS;
    const pause = Math.min(first * 2 ** unpackedAttempts++, RETRY_MAX_MS);
    retry = setTimeout(scheduleInstant, pause);
  }

  function stop(): void {
    running = false;
    unsubscribe?.();
    unsubscribeAhead?.();
    clearInterval(timer);
    clearTimeout(retry);
    clearTimeout(ahead);
    ahead = undefined;
    expected = undefined;
    clearImmediate(immediate);
    immediate = undefined;
  }

  function start(): void {
    if (running) return;
    running = true;
    if (mode.automine) {
      unsubscribe = modules.onExecutable(scheduleInstant);
      scheduleInstant();
    }
    if (mode.intervalMs > 0) {
      timer = setInterval(() => guarded(produceAtInterval), mode.intervalMs);
      if (modules.packsAhead) unsubscribeAhead = modules.onExecutable(scheduleAhead);
    }
  }

  return {
    start,
    stop,
    configuredMode,
    setMode(wanted) {
      mode = wanted;
      if (!running) return;
      stop();
      start();
    },
    produceBlock() {
      const hash = produce(true);
      invariant(hash, "a block that may be empty is always made");
      return hash;
    },
    network: undefined,
  };
}

function later({ seconds, nanos }: Time, milliseconds: number): Time {
  const total = nanos + (milliseconds % 1000) * 1e6;
  const carry = Math.floor(total / 1e9);
  return { seconds: seconds + Math.floor(milliseconds / 1000) + carry, nanos: total % 1e9 };
}

/**
 * keccak256 of RLP([height, seconds, nanos, proposer, sha256 of all transactions]): in place of a consensus engine's block hash. The
 * transactions are hashed as one string, because each ends where its RLP says.
 */
function consensusHash(proposal: Proposal, txs: readonly Uint8Array[]): Hash {
  const number = (value: number) => bigintToBytes(BigInt(value));
  // One update of all is a third of the time of one for each.
  const content = createHash("sha256").update(Buffer.concat(txs));
  return keccak256Hash(
    encodeRlp([
      number(proposal.height),
      number(proposal.time.seconds),
      number(proposal.time.nanos),
      addressToBytes(proposal.proposer),
      content.digest(),
    ]),
  );
}
