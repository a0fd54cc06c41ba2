import { invariant } from "../../errors.ts";
import { type Address, addressToBytes } from "../../primitives/address.ts";
import { bigintToBytes, concatBytes } from "../../primitives/bytes.ts";
import { type Hash, hashToBytes } from "../../primitives/hash.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { encodeRlp } from "../../primitives/rlp.ts";
import type { Application, Proposal, Time } from "../application.ts";
import { PACKING_LIMITS } from "../pack-transactions.ts";

/** When blocks are made: at once for a waiting transaction, never by itself, or every so many milliseconds. */
export type BlockTime = "instant" | "manual" | { readonly intervalMs: number };

export type SoloEngineOptions = {
  readonly blockTime: BlockTime;
  /** The one validator. */
  readonly proposer: Address;
  /** Called once when a block could not be made durable; the node must stop. */
  readonly onFatal: (error: unknown) => void;
  /** True for a failure after which all is as before, so that the block may be tried again. */
  readonly isTemporary: (error: unknown) => boolean;
  /** Called when such a failure stops the blocks, and with undefined when they go on. */
  readonly onStalled: (cause: unknown) => void;
  /** Milliseconds until the block is tried again; 1000 if not given. */
  readonly retryMs?: number;
};

const RETRY_MS = 1000;

export type SoloEngineModules = {
  readonly application: Application;
  /** Calls back when the pool holds something executable that it did not hold before. */
  readonly onExecutable: (listener: () => void) => () => void;
  /** False when the pool surely has nothing for a block. */
  readonly hasExecutable: () => boolean;
  readonly now: () => Time;
  /** Time of the head: blocks never go back behind it. */
  readonly headTime: () => Time;
};

export type SoloEngine = {
  start(): void;
  stop(): void;
  /** Makes one block now, empty or not; its hash. */
  produceBlock(): Hash;
};

/** The engine of a chain with one validator, in process: what it proposes is decided. */
export function createSoloEngine(
  options: SoloEngineOptions,
  modules: SoloEngineModules,
): SoloEngine {
  const { application } = modules;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;
  let unsubscribe: (() => void) | undefined;
  let retry: NodeJS.Timeout | undefined;
  let running = false;
  let isStalled = false;

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
    invariant(application.processProposal(input), "the application must accept its own proposal");
    const { appHash } = application.finalizeBlock(input);
    application.commit();
    return appHash;
  }

  function nextProposal(): Proposal {
    return {
      height: application.info().height + 1,
      time: later(modules.now(), modules.headTime()),
      proposer: options.proposer,
      lastCommit: { round: 0, votes: [{ address: options.proposer, power: 1, flag: "commit" }] },
      misbehavior: [],
    };
  }

  /** Runs `work`, and again later if its failure is one that passes. */
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

  /** One block a turn of the event loop, so that requests are served between two blocks. */
  function scheduleInstant(): void {
    if (!running || immediate) return;
    immediate = setImmediate(() => {
      immediate = undefined;
      guarded(() => {
        if (produce(false) !== undefined) scheduleInstant();
      });
    });
  }

  function stop(): void {
    running = false;
    unsubscribe?.();
    clearInterval(timer);
    clearTimeout(retry);
    clearImmediate(immediate);
    immediate = undefined;
  }

  return {
    start() {
      if (running) return;
      running = true;
      if (options.blockTime === "instant") {
        unsubscribe = modules.onExecutable(scheduleInstant);
        scheduleInstant();
      } else if (options.blockTime !== "manual") {
        timer = setInterval(() => guarded(() => produce(true)), options.blockTime.intervalMs);
      }
    },
    stop,
    produceBlock() {
      const hash = produce(true);
      invariant(hash, "a block that may be empty is always made");
      return hash;
    },
  };
}

function later(a: Time, b: Time): Time {
  if (a.seconds !== b.seconds) return a.seconds > b.seconds ? a : b;
  return a.nanos >= b.nanos ? a : b;
}

/** keccak256 of RLP([height, seconds, nanos, proposer, keccak256(tx) …]): stands in for a consensus engine's block hash. */
function consensusHash(proposal: Proposal, txs: readonly Uint8Array[]): Hash {
  const number = (value: number) => bigintToBytes(BigInt(value));
  return keccak256Hash(
    encodeRlp([
      number(proposal.height),
      number(proposal.time.seconds),
      number(proposal.time.nanos),
      addressToBytes(proposal.proposer),
      concatBytes(...txs.map((tx) => hashToBytes(keccak256Hash(tx)))),
    ]),
  );
}
