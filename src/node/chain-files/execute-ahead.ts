import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { readCanonicalTransactions } from "../../base/types/block-codec.ts";
import { packTransactions } from "../../base/types/transaction/packed-transactions.ts";
import type { OpenHeader } from "../../evm/execution/block-context.ts";
import type { RecordedBatch } from "../../evm/execution/parallel/recorded-batch.ts";
import { type AppliedCounts, RecordedExecution } from "../../evm/execution/parallel/recorded-execution.ts";
import {
  type ListedLane,
  type RecordedExecutions,
  SPECULATION_LIMITS,
} from "../../evm/execution/parallel/speculation.ts";
import type { Evm } from "../../evm/machine/evm.ts";
import type { WaitingBlock } from "./chain-file.ts";

export const AHEAD_LIMITS = {
  /** Gas to execute before threads start: a thread takes 2 s of CPU to start and compile, as does executing this much. */
  gasBefore: 300_000_000n,
  /**
   * Minimum mean gas of a block's transactions for a single thread: below it, recovering senders leaves no free processor. With more threads the
   * minimum is `SPECULATION_LIMITS.gasMin`.
   */
  gasMinOfOne: 400_000n,
};

/** The threads' share of a block's transactions moves by SHARE_STEP after each block, and never falls below SHARE_MIN. */
const SHARE_STEP = 1 / 16;
const SHARE_MIN = 1 / 4;

/** What the threads recorded for a block. */
type Answers = { readonly batches: Promise<readonly (RecordedBatch | undefined)[]>; isReady: boolean };

/**
 * Blocks of a chain file with access lists: threads execute a part of each block's transactions before its turn, and the chain's thread executes
 * the rest. A wrong list only costs time: recorded reads are compared before the results are applied.
 */
export class ListedExecutions implements RecordedExecutions {
  readonly counts: AppliedCounts = { applied: 0, conflicts: 0 };
  readonly #lanes: readonly ListedLane[];
  /** Answers by block, before its turn. */
  readonly #answers = new Map<Hash, Answers>();
  /** Results for the current block, by transaction. */
  readonly #recorded = new Map<Hash, { readonly batch: RecordedBatch; readonly start: number }>();
  readonly #gasMin: bigint;
  /** Gas of worthwhile blocks. Above the limit all lists are sent, since the state before a block depends on the lists of its predecessors. */
  #gasBefore = 0n;
  #share: number;

  constructor(lanes: readonly ListedLane[]) {
    this.#lanes = lanes;
    this.#gasMin = lanes.length > 1 ? SPECULATION_LIMITS.gasMin : AHEAD_LIMITS.gasMinOfOne;
    this.#share = lanes.length / (lanes.length + 1);
  }

  /** Sends the next block to the threads. @param senders of its first transactions */
  send({ header, hash, bytes, encodedAccessList }: WaitingBlock, senders: readonly Address[]): void {
    if (encodedAccessList === undefined) return;
    const isWorthwhile = senders.length > 0 && header.gasUsed >= this.#gasMin * BigInt(senders.length);
    if (isWorthwhile) this.#gasBefore += header.gasUsed;
    if (this.#gasBefore <= AHEAD_LIMITS.gasBefore) return;
    const transactions = isWorthwhile ? readCanonicalTransactions(bytes) : [];
    const parts = this.#partsOf(isWorthwhile ? senders.length : 0);
    const batches = Promise.all(
      parts.map((positions, lane) =>
        this.#lanes[lane]!({
          header,
          hash,
          accessList: encodedAccessList.slice(),
          transactions: packTransactions(positions.map((position) => transactions[position]!)),
          positions: Uint32Array.from(positions),
          senders: positions.map((position) => senders[position]!),
        }),
      ),
    );
    if (!isWorthwhile) return;
    const answers: Answers = { batches, isReady: false };
    void batches.then(() => {
      answers.isReady = true;
    });
    this.#answers.set(hash, answers);
  }

  /** Starts the turn of block `hash`; resolves once all results for it have arrived. */
  async begin(hash: Hash): Promise<void> {
    this.#recorded.clear();
    const answers = this.#answers.get(hash);
    if (answers === undefined) return;
    this.#answers.delete(hash);
    const step = answers.isReady ? SHARE_STEP : -SHARE_STEP;
    this.#share = Math.min(1, Math.max(SHARE_MIN, this.#share + step));
    for (const batch of await answers.batches) {
      batch?.hashes.forEach((transaction, i) => {
        this.#recorded.set(transaction, { batch, start: batch.starts[i]! });
      });
    }
  }

  evmOf(_: OpenHeader, hash: Hash, evm: Evm): Evm | undefined {
    const recorded = this.#recorded.get(hash);
    return recorded && new RecordedExecution(recorded.batch, recorded.start, evm, this.counts);
  }

  /** The transactions of each lane, by position. The transactions of a lane, and those of this thread, are spread over the whole block. */
  #partsOf(count: number): readonly number[][] {
    const parts = this.#lanes.map((): number[] => []);
    let sent = 0;
    for (let position = 0; position < count; position++) {
      if (sent >= (position + 1) * this.#share) continue;
      parts[sent++ % parts.length]!.push(position);
    }
    return parts;
  }
}
