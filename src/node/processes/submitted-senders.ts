import { ADDRESS_LENGTH, type Address, addressFromBytes } from "../../base/primitives/address.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import { Pool } from "../../base/threads/pool.ts";
import { packTransactions } from "../../base/types/transaction/packed-transactions.ts";
import type { senderRecovery } from "../../base/types/transaction/recover-senders.thread.ts";

/** Far longer than a task takes on a machine that swaps: only a hanging thread reaches it. */
const RECOVERY_MS_MAX = 60_000;
/** Transactions of one task: about 5 ms, and one message to a thread. */
const TASK_TRANSACTIONS_MAX = 64;
/**
 * With fewer transactions in a turn, a message to a thread does not pay, since its answer waits for a processor: the pool recovers them in less
 * than a millisecond.
 */
const THREAD_TRANSACTIONS_MIN = 8;
/** Tasks queued for a thread, so that it continues while the main thread is busy. */
const TASKS_QUEUED = 4;

type Waiting = { readonly transaction: Uint8Array; readonly resolve: (sender: Address | undefined) => void };

/**
 * Recovers senders of transactions from RPC processes in threads of the chain's process: the pool and blocks trust the sender, and another
 * process's claim is no proof.
 */
export class SubmittedSenders {
  readonly #threads: Pool<typeof senderRecovery>;
  readonly #recoverSoon: () => void;
  #waiting: Waiting[] = [];
  #running = 0;
  /** The last requested sender. Senders are returned in the order of requests, since nonces of an account ascend. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(count: number, { log, timers }: { readonly log: Logger; readonly timers: Timers }) {
    this.#threads = new Pool<typeof senderRecovery>(
      {
        entry: "base/types/transaction/recover-senders.thread",
        count,
        // One task per turn: connections are bounded in what they send without an answer.
        waitingMax: Number.POSITIVE_INFINITY,
        callsMax: TASKS_QUEUED,
        heapMegabytesMax: 64,
        onLost: (error) => log.warn("sender recovery failed", { error }),
      },
      timers,
    );
    this.#recoverSoon = timers.deferred("senders of submitted transactions", () => this.#recover());
  }

  /**
   * @param transaction in network form. @returns undefined if it has no sender or no thread answers: the pool then recovers it, and rejects
   * invalid transactions
   */
  of(transaction: Uint8Array): MaybePromise<Address | undefined> {
    if (!this.#threads.isReady) {
      this.#threads.warmUp();
      return undefined;
    }
    return new Promise((resolve) => {
      this.#waiting.push({ transaction, resolve });
      if (this.#waiting.length === 1) this.#recoverSoon();
    });
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  #recover(): void {
    const all = this.#waiting;
    this.#waiting = [];
    if (all.length < THREAD_TRANSACTIONS_MIN && this.#running === 0) {
      for (const { resolve } of all) resolve(undefined);
      return;
    }
    for (let at = 0; at < all.length; at += TASK_TRANSACTIONS_MAX) {
      this.#recoverTask(all.slice(at, at + TASK_TRANSACTIONS_MAX));
    }
  }

  #recoverTask(task: readonly Waiting[]): void {
    const packed = packTransactions(task.map(({ transaction }) => transaction));
    const options = { timeoutMs: RECOVERY_MS_MAX, moved: [packed.buffer as ArrayBuffer] };
    this.#running++;
    const recovered = this.#threads.call("recoverEach", packed, options).catch(() => undefined);
    this.#last = Promise.all([recovered, this.#last]).then(([senders]) => {
      this.#running--;
      for (const [i, { resolve }] of task.entries()) resolve(senders && senderAt(senders, i));
    });
  }
}

function senderAt(senders: Uint8Array, index: number): Address | undefined {
  const bytes = senders.subarray(index * ADDRESS_LENGTH, (index + 1) * ADDRESS_LENGTH);
  return bytes.every((byte) => byte === 0) ? undefined : addressFromBytes(bytes);
}
