import type { Hash } from "../../primitives/hash.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import type { BlockJsonCache } from "../json/block-json-cache.ts";
import { absentMembers } from "../json/header-json.ts";
import { receiptText } from "../json/receipt-json.ts";
import { syncProgressText } from "../json/sync-json.ts";
import { transactionText } from "../json/transaction-json.ts";
import { plainText } from "../json/write.ts";
import type { ChainEvents, PendingTransaction } from "../ports/chain-view.ts";
import { andThen, type MaybePromise } from "../ports/maybe-promise.ts";
import { minedReceipts } from "../ports/mined.ts";
import type { NodePort, SyncProgress } from "../ports/node.ts";
import { LogFeed } from "./log-feed.ts";
import type { Notifier } from "./notifier.ts";
import type { Subscriber } from "./subscriber.ts";

/** How much of a new block a subscriber of `newHeads` wants. */
export type HeadForm = "header" | "hashes" | "full";

type ReceiptsEntry = {
  readonly subscriber: Subscriber;
  /** undefined: all of each block */
  readonly hashes: ReadonlySet<Hash> | undefined;
};

/** geth looks as often. */
const SYNC_CHECK_MS = 60_000;

/** Publishes events of chain and pool to the subscribers of `eth`; the JSON of a notification is encoded once for all of them. */
export class EthFeeds {
  readonly #blockJson: BlockJsonCache;
  readonly #node: Pick<NodePort, "info">;
  readonly #notifier: Notifier;
  readonly #heads = { header: newSet(), hashes: newSet(), full: newSet() };
  readonly #pending = { hash: newSet(), full: newSet() };
  readonly #receipts = new Set<ReceiptsEntry>();
  readonly #syncing = newSet();
  #syncCheck: NodeJS.Timeout | undefined;
  #lastSync = "";
  readonly logs: LogFeed;
  readonly #stop: () => void;

  constructor(modules: {
    readonly chain: ChainEvents;
    readonly blockJson: BlockJsonCache;
    readonly node: Pick<NodePort, "info">;
    readonly notifier: Notifier;
  }) {
    this.#blockJson = modules.blockJson;
    this.#node = modules.node;
    this.#notifier = modules.notifier;
    this.logs = new LogFeed(modules.notifier);
    this.#stop = modules.chain.subscribe({
      onBlock: (executed) => this.#publishBlock(executed),
      onRemoved: (removed) => {
        for (const executed of removed) this.logs.publish(executed, true);
      },
      onPending: (transactions) => this.#publishPending(transactions),
    });
  }

  addHeads(subscriber: Subscriber, form: HeadForm): () => void {
    return add(this.#heads[form], subscriber);
  }

  addPending(subscriber: Subscriber, isFull: boolean): () => void {
    return add(this.#pending[isFull ? "full" : "hash"], subscriber);
  }

  addReceipts(subscriber: Subscriber, hashes: readonly Hash[]): () => void {
    const entry = { subscriber, hashes: hashes.length === 0 ? undefined : new Set(hashes) };
    this.#receipts.add(entry);
    return () => this.#receipts.delete(entry);
  }

  /** Sends the present state at once, and every change. */
  addSyncing(subscriber: Subscriber): () => void {
    let isOver = false;
    void andThen(this.#publishSyncing(), () => {
      if (isOver) return;
      subscriber.notify(this.#lastSync);
      this.#syncing.add(subscriber);
    });
    this.#syncCheck ??= setInterval(() => void this.#checkSync(), SYNC_CHECK_MS).unref();
    return () => {
      isOver = true;
      this.#syncing.delete(subscriber);
      if (this.#syncing.size === 0) this.#stopSyncCheck();
    };
  }

  /** Unsubscribes from the chain. */
  close(): void {
    this.#stop();
    this.#stopSyncCheck();
  }

  #publishBlock(executed: ExecutedBlock): void {
    if (this.#heads.header.size > 0) {
      const { header } = executed.block;
      const text = latin1(this.#blockJson.get(executed, "header"));
      this.#notifier.publish(this.#heads.header, `${text.slice(0, -1)}${absentMembers(header)}}`);
    }
    for (const form of ["hashes", "full"] as const) {
      const subscribers = this.#heads[form];
      if (subscribers.size === 0) continue;
      this.#notifier.publish(subscribers, latin1(this.#blockJson.get(executed, form)));
    }
    this.logs.publish(executed);
    this.#publishReceipts(executed);
  }

  #publishReceipts(executed: ExecutedBlock): void {
    const { transactions } = executed.block;
    if (transactions.length === 0 || this.#receipts.size === 0) return;
    const all: Subscriber[] = [];
    const receipts = minedReceipts(executed);
    for (const { subscriber, hashes } of this.#receipts) {
      if (hashes === undefined) {
        all.push(subscriber);
        continue;
      }
      const texts = transactions.flatMap(({ hash }, index) =>
        hashes.has(hash) ? [receiptText(receipts[index]!)] : [],
      );
      if (texts.length > 0) this.#notifier.publish([subscriber], `[${texts.join(",")}]`);
    }
    if (all.length > 0) {
      this.#notifier.publish(all, latin1(this.#blockJson.get(executed, "receipts")));
    }
  }

  #publishPending(transactions: readonly PendingTransaction[]): void {
    const { hash, full } = this.#pending;
    for (const { tx, sender } of transactions) {
      if (hash.size > 0) this.#notifier.publish(hash, plainText(tx.hash));
      if (full.size > 0) this.#notifier.publish(full, transactionText(tx, sender));
    }
  }

  #publishSyncing(): MaybePromise<void> {
    return andThen(this.#node.info(), ({ syncProgress }) => {
      const text = syncText(syncProgress);
      if (text === this.#lastSync) return;
      this.#lastSync = text;
      this.#notifier.publish(this.#syncing, text);
    });
  }

  async #checkSync(): Promise<void> {
    try {
      await this.#publishSyncing();
    } catch {
      // Nobody asked: the next check tries again, and a call that asks gets the error.
    }
  }

  #stopSyncCheck(): void {
    clearInterval(this.#syncCheck);
    this.#syncCheck = undefined;
  }
}

function newSet(): Set<Subscriber> {
  return new Set();
}

function add(subscribers: Set<Subscriber>, subscriber: Subscriber): () => void {
  subscribers.add(subscriber);
  return () => subscribers.delete(subscriber);
}

function syncText(progress: SyncProgress | undefined): string {
  return progress === undefined
    ? "false"
    : `{"syncing":true,"status":${syncProgressText(progress)}}`;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
