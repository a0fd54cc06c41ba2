import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Transaction } from "../../../base/types/transaction/transaction.ts";
import type { Evm } from "../../machine/evm.ts";
import type { OpenHeader } from "../block-context.ts";
import type { RecordedBatch } from "./recorded-batch.ts";
import { type AppliedCounts, RecordedExecution } from "./recorded-execution.ts";

/** What executing a block asks of speculation. */
export interface RecordedExecutions {
  /** The EVM for `hash` in a block with `header`; undefined where its execution there is not recorded. */
  evmOf(header: OpenHeader, hash: Hash, evm: Evm): Evm | undefined;
}

export type SpeculatedTransaction = { readonly tx: Transaction; readonly sender: Address };

/** Transactions of one block to execute, after those sent before. */
export type SpeculationRequest = {
  readonly header: OpenHeader;
  readonly transactions: readonly SpeculatedTransaction[];
};

/** Executes in another thread; undefined if the thread is lost, which the lane reports to its owner's `onLost`. */
export type SpeculationLane = (request: SpeculationRequest) => Promise<RecordedBatch | undefined>;

/** A block that came with its access list, and some of its transactions to execute on the states that the list gives. */
export type SentListedBlock = {
  readonly header: OpenHeader;
  readonly hash: Hash;
  /** RLP. */
  readonly accessList: Uint8Array;
  /** As `packTransactions` makes it, as the next two in the order of the block. */
  readonly transactions: Uint8Array;
  readonly positions: Uint32Array;
  readonly senders: readonly Address[];
};

/** As a `SpeculationLane`, for blocks with their lists, in their order. */
export type ListedLane = (block: SentListedBlock) => Promise<RecordedBatch | undefined>;

export const SPECULATION_LIMITS = {
  /** With less gas executing takes no longer than sending, comparing and applying do: a transfer of tokens has 60,000. */
  gasMin: 100_000n,
  /** Transactions in one message: an answer comes after some milliseconds. */
  batch: 128,
  /** Transactions sent and not answered: a tenth of a second of work for one thread. */
  aheadMax: 512,
  /** Blocks without speculation after a block in which it was of no use, at most: the second such block in a row is followed by twice as many. */
  pauseMax: 64,
  /** Fewer transactions say nothing of whether it is of use. */
  judgedMin: 16,
};

/** What became of speculated transactions. */
export type SpeculationOutcome = "applied" | "conflict" | "late";

/**
 * Executes the next block's transactions in other threads. Transactions to the same callee go to the same thread in the packer's order, so
 * each sees the writes of the previous ones. Comparing reads finds executions that are still wrong, and these run again.
 */
export class Speculation implements RecordedExecutions {
  readonly #lanes: readonly SpeculationLane[];
  readonly #onOutcome: (outcome: SpeculationOutcome, count: number) => void;
  #key = "";
  /** Whether `#key` belongs to the last requested header. */
  #asked: { readonly header: OpenHeader; readonly isKey: boolean } | undefined;
  /** Transactions of the block; the execution where it was recorded, null where it was not. */
  #sent = new Map<Hash, { readonly batch: RecordedBatch; readonly start: number } | null | undefined>();
  #counts: AppliedCounts & { late: number } = { applied: 0, conflicts: 0, late: 0 };
  #unanswered = 0;
  #pause = 0;
  #pauseNext = 1;

  constructor(lanes: readonly SpeculationLane[], onOutcome: (outcome: SpeculationOutcome, count: number) => void) {
    this.#lanes = lanes;
    this.#onOutcome = onOutcome;
  }

  evmOf(header: OpenHeader, hash: Hash, evm: Evm): Evm | undefined {
    if (!this.#isCurrent(header)) return undefined;
    const recorded = this.#sent.get(hash);
    if (recorded) return new RecordedExecution(recorded.batch, recorded.start, evm, this.#counts);
    if (recorded === undefined && this.#sent.has(hash)) this.#counts.late++;
    return undefined;
  }

  /** From here on for the block with `header`. False where this block goes without. */
  begin(header: OpenHeader): boolean {
    const key = contextKey(header);
    if (key !== this.#key) {
      this.#judge();
      this.#key = key;
      this.#asked = undefined;
      this.#sent = new Map();
      this.#counts = { applied: 0, conflicts: 0, late: 0 };
      this.#unanswered = 0;
      if (this.#pause > 0) this.#pause--;
    }
    return this.#pause === 0;
  }

  /** Executing it at once would be in vain: its execution is on its way, or will be after `send`. */
  isPending(tx: Transaction): boolean {
    const isSent = this.#sent.has(tx.hash);
    return isSent ? this.#sent.get(tx.hash) === undefined : tx.gasLimit >= SPECULATION_LIMITS.gasMin;
  }

  /** Whether it may be sent now. */
  takes(tx: Transaction): boolean {
    return tx.gasLimit >= SPECULATION_LIMITS.gasMin && !this.#sent.has(tx.hash);
  }

  /** Number of executions that may still be sent. */
  get room(): number {
    return SPECULATION_LIMITS.aheadMax * this.#lanes.length - this.#unanswered;
  }

  /** Has the transactions executed, in order, after those sent before. */
  send(header: OpenHeader, transactions: readonly SpeculatedTransaction[]): void {
    const lanes = this.#lanes.map((): SpeculatedTransaction[] => []);
    for (const each of transactions) {
      this.#sent.set(each.tx.hash, undefined);
      lanes[this.#laneOf(each)]!.push(each);
    }
    this.#unanswered += transactions.length;
    for (const [lane, all] of lanes.entries()) {
      for (let i = 0; i < all.length; i += SPECULATION_LIMITS.batch) {
        const part = all.slice(i, i + SPECULATION_LIMITS.batch);
        void this.#lanes[lane]!({ header, transactions: part }).then((batch) => this.#settle(header, part, batch));
      }
    }
  }

  #settle(header: OpenHeader, asked: readonly SpeculatedTransaction[], batch: RecordedBatch | undefined): void {
    if (!this.#isCurrent(header)) return;
    this.#unanswered -= asked.length;
    for (const { tx } of asked) this.#sent.set(tx.hash, null);
    batch?.hashes.forEach((hash, i) => {
      this.#sent.set(hash, { batch, start: batch.starts[i]! });
    });
  }

  /** By what a contract is shared, or else by whom it is used. */
  #laneOf({ tx, sender }: SpeculatedTransaction): number {
    return this.#lanes.length === 1 ? 0 : Number.parseInt((tx.to ?? sender).slice(-6), 16) % this.#lanes.length;
  }

  #isCurrent(header: OpenHeader): boolean {
    if (this.#asked?.header !== header) this.#asked = { header, isKey: contextKey(header) === this.#key };
    return this.#asked.isKey;
  }

  /** After a block in which less than half was of use some go without. */
  #judge(): void {
    const { applied, conflicts, late } = this.#counts;
    if (applied > 0) this.#onOutcome("applied", applied);
    if (conflicts > 0) this.#onOutcome("conflict", conflicts);
    if (late > 0) this.#onOutcome("late", late);
    if (applied + conflicts + late < SPECULATION_LIMITS.judgedMin) return;
    if (applied >= conflicts + late) {
      this.#pauseNext = 1;
      return;
    }
    this.#pause = this.#pauseNext + 1;
    this.#pauseNext = Math.min(SPECULATION_LIMITS.pauseMax, 2 * this.#pauseNext);
  }
}

/** All of a block that an execution sees besides the state, which the parent's hash and the transactions before give. */
export function contextKey(header: OpenHeader): string {
  const { parentHash, number, timestamp, coinbase, gasLimit, difficulty, mixHash } = header;
  const { baseFeePerGas, excessBlobGas, parentBeaconBlockRoot, slotNumber } = header;
  return [
    parentHash,
    number,
    timestamp,
    coinbase,
    gasLimit,
    difficulty,
    mixHash,
    baseFeePerGas,
    excessBlobGas,
    parentBeaconBlockRoot,
    slotNumber,
  ].join(" ");
}
