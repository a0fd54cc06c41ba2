import { ADDRESS_LENGTH, type Address, addressFromBytes } from "../../base/primitives/address.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import { Pool } from "../../base/threads/pool.ts";
import { packTransactions } from "../../base/types/transaction/packed-transactions.ts";
import type { senderRecovery } from "../../base/types/transaction/recover-senders.thread.ts";

/** Far more than a task takes on a machine that swaps: it fails only where the thread hangs. */
const RECOVERY_MS_MAX = 60_000;
/** Of one task: some 5 ms, and one message to a thread. */
const TASK_TRANSACTIONS_MAX = 64;
/** Fewer of one turn are not worth a message to a thread, whose answer comes when it has its turn on a processor: the pool recovers them, in less than a millisecond. */
const THREAD_TRANSACTIONS_MIN = 8;
/** In the queue of a thread: it goes on while the main thread is busy. */
const TASKS_QUEUED = 4;

type Waiting = { readonly transaction: Uint8Array; readonly resolve: (sender: Address | undefined) => void };

/**
 * Senders of transactions that RPC processes submit, recovered in threads of the chain's process: the pool and blocks take a sender for granted, and what
 * another process says of it is no proof.
 */
export class SubmittedSenders {
  readonly #threads: Pool<typeof senderRecovery>;
  readonly #recoverSoon: () => void;
  #waiting: Waiting[] = [];
  #running = 0;
  /** Settles after all senders that were requested: they are given in that order, since nonces of an account ascend. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(count: number, { log, timers }: { readonly log: Logger; readonly timers: Timers }) {
    this.#threads = new Pool<typeof senderRecovery>(
      {
        entry: "base/types/transaction/recover-senders.thread",
        count,
        // A task for what came in one turn: connections have bounds for what they send without an answer.
        waitingMax: Number.POSITIVE_INFINITY,
        callsMax: TASKS_QUEUED,
        heapMegabytesMax: 64,
        onLost: (error) => log.warn("sender recovery failed", { error }),
      },
      timers,
    );
    this.#recoverSoon = timers.deferred("senders of submitted transactions", () => this.#recover());
  }

  /** @param transaction in network form. @returns undefined where it has none, or no thread to say so: the pool recovers it, and rejects what is wrong */
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
