import type { Timer, Timers } from "../../../base/telemetry/timers.ts";
import { andThen, type MaybePromise } from "../../../base/threads/maybe-promise.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import type { ChainEvents, PendingTransaction } from "../../ports/chain-view.ts";
import type { NodePort, SyncProgress } from "../../ports/node.ts";
import { absentMembers, syncProgressText } from "../json/block-json.ts";
import type { BlockJsonCache } from "../json/block-json-cache.ts";
import { transactionText } from "../json/transaction-json.ts";
import { plainText } from "../json/write.ts";
import { Audience } from "./audience.ts";
import type { LogFeed } from "./log-feed.ts";
import type { Notifier } from "./notifier.ts";
import { latin1, ReceiptFeed } from "./receipt-feed.ts";
import type { Subscriber } from "./subscriber.ts";

/** The form in which a subscriber of `newHeads` wants a new block. */
export type HeadForm = "header" | "hashes" | "full";

/** The engine's status is as old. */
const SYNC_CHECK_MS = 2_000;

/** Sends the events of chain and pool to the subscribers of `eth`; an event is encoded once for all of them. */
export class EthFeeds {
  readonly #blockJson: BlockJsonCache;
  readonly #node: Pick<NodePort, "info">;
  readonly #notifier: Notifier;
  readonly #timers: Pick<Timers, "every">;
  readonly #heads = { header: new Audience(), hashes: new Audience(), full: new Audience() };
  readonly #pending = { hash: new Audience(), full: new Audience() };
  #stopPending: (() => void) | undefined;
  readonly #chain: ChainEvents;
  readonly #syncing = new Audience();
  #syncCheck: Timer | undefined;
  #isSyncing: boolean | undefined;
  #lastSync = "";
  readonly logs: LogFeed;
  readonly receipts: ReceiptFeed;
  readonly #stop: () => void;

  constructor(modules: {
    readonly chain: ChainEvents;
    readonly blockJson: BlockJsonCache;
    readonly node: Pick<NodePort, "info">;
    readonly notifier: Notifier;
    readonly timers: Pick<Timers, "every">;
    readonly logs: LogFeed;
  }) {
    this.#chain = modules.chain;
    this.#blockJson = modules.blockJson;
    this.#node = modules.node;
    this.#notifier = modules.notifier;
    this.#timers = modules.timers;
    this.logs = modules.logs;
    this.receipts = new ReceiptFeed(modules);
    this.#stop = modules.chain.subscribe({
      onBlock: (executed) => this.#emitBlock(executed),
      onRemoved: (removed) => {
        for (const executed of removed) this.logs.publish(executed, true);
      },
    });
  }

  addHeads(subscriber: Subscriber, form: HeadForm): () => void {
    return this.#heads[form].add(subscriber);
  }

  addPending(subscriber: Subscriber, isFull: boolean): () => void {
    const { hash, full } = this.#pending;
    const remove = (isFull ? full : hash).add(subscriber);
    // If the pool is in another process, each event is a message, so only events with a subscriber are sent.
    this.#stopPending ??= this.#chain.subscribe({
      onPending: (transactions) => this.#emitPending(transactions),
    });
    return () => {
      remove();
      if (hash.size + full.size > 0) return;
      this.#stopPending?.();
      this.#stopPending = undefined;
    };
  }

  /** Sends the present state at once, then the beginning and the end of each time the node is behind. */
  addSyncing(subscriber: Subscriber): () => void {
    let remove: (() => void) | undefined;
    let isOver = false;
    void andThen(this.#emitSyncing(), () => {
      if (isOver) return;
      subscriber.notify(this.#lastSync);
      remove = this.#syncing.add(subscriber);
    });
    this.#syncCheck ??= this.#timers.every(SYNC_CHECK_MS, "sync of subscriptions", () => this.#checkSync());
    return () => {
      isOver = true;
      remove?.();
      if (this.#syncing.size === 0) this.#stopSyncCheck();
    };
  }

  /** Characters of events that wait to be sent. */
  get waitingBytes(): number {
    return this.#notifier.waitingChars;
  }

  /** Unsubscribes from the chain. */
  close(): void {
    this.#stop();
    this.#stopPending?.();
    this.#stopSyncCheck();
  }

  #emitBlock(executed: ExecutedBlock): void {
    if (this.#syncing.size > 0) void this.#checkSync();
    if (this.#heads.header.size > 0) {
      const { header } = executed.block;
      const text = latin1(this.#blockJson.getAtOnce(executed, "header"));
      this.#notifier.publish(this.#heads.header, `${text.slice(0, -1)}${absentMembers(header)}}`);
    }
    for (const form of ["hashes", "full"] as const) {
      const audience = this.#heads[form];
      if (audience.size === 0) continue;
      this.#notifier.publish(audience, latin1(this.#blockJson.getAtOnce(executed, form)));
    }
    this.logs.publish(executed);
    this.receipts.publish(executed);
  }

  #emitPending(transactions: readonly PendingTransaction[]): void {
    const { hash, full } = this.#pending;
    for (const { tx, sender } of transactions) {
      if (hash.size > 0) this.#notifier.publish(hash, plainText(tx.hash));
      if (full.size > 0) this.#notifier.publish(full, transactionText(tx, sender));
    }
  }

  #emitSyncing(): MaybePromise<void> {
    return andThen(this.#node.info(), ({ syncProgress }) => {
      const isSyncing = syncProgress !== undefined;
      this.#lastSync = syncText(syncProgress);
      if (isSyncing !== this.#isSyncing) this.#notifier.publish(this.#syncing, this.#lastSync);
      this.#isSyncing = isSyncing;
    });
  }

  async #checkSync(): Promise<void> {
    try {
      await this.#emitSyncing();
    } catch {
      // No caller waits: the next check tries again, and a call gets the error.
    }
  }

  #stopSyncCheck(): void {
    this.#syncCheck?.cancel();
    this.#syncCheck = undefined;
  }
}

function syncText(progress: SyncProgress | undefined): string {
  return progress === undefined ? "false" : `{"syncing":true,"status":${syncProgressText(progress)}}`;
}
