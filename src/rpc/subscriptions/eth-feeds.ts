import type { PooledTransaction } from "../../mempool/pool.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import type { BlockJsonCache } from "../json/block-json-cache.ts";
import { absentMembers } from "../json/header-json.ts";
import { syncProgressText } from "../json/sync-json.ts";
import { transactionText } from "../json/transaction-json.ts";
import { plainText } from "../json/write.ts";
import type { ChainEvents } from "../ports/chain-events.ts";
import type { NodeInfo, SyncProgress } from "../ports/node-info.ts";
import { Audience } from "./audience.ts";
import type { LogFeed } from "./log-feed.ts";
import type { Notifier } from "./notifier.ts";
import { latin1, ReceiptFeed } from "./receipt-feed.ts";
import type { Subscriber } from "./subscriber.ts";

/** How much of a new block a subscriber of `newHeads` wants. */
export type HeadForm = "header" | "hashes" | "full";

/** geth looks as often. */
const SYNC_CHECK_MS = 60_000;

/** Sends the events of chain and pool to the subscribers of `eth`; an event is encoded once for all of them. */
export class EthFeeds {
  readonly #blockJson: BlockJsonCache;
  readonly #node: NodeInfo;
  readonly #notifier: Notifier;
  readonly #heads = { header: new Audience(), hashes: new Audience(), full: new Audience() };
  readonly #pending = { hash: new Audience(), full: new Audience() };
  readonly #syncing = new Audience();
  #syncCheck: NodeJS.Timeout | undefined;
  #lastSync = "";
  readonly logs: LogFeed;
  readonly receipts: ReceiptFeed;
  readonly #stop: readonly (() => void)[];

  constructor(modules: {
    readonly events: ChainEvents;
    readonly blockJson: BlockJsonCache;
    readonly node: NodeInfo;
    readonly notifier: Notifier;
    readonly logs: LogFeed;
  }) {
    this.#blockJson = modules.blockJson;
    this.#node = modules.node;
    this.#notifier = modules.notifier;
    this.logs = modules.logs;
    this.receipts = new ReceiptFeed(modules);
    const { events } = modules;
    this.#stop = [
      events.onBlock((executed) => this.#emitBlock(executed)),
      events.onRollback((removed) => {
        for (const executed of removed) this.logs.publish(executed, true);
      }),
      events.onPending((entries) => this.#emitPending(entries)),
    ];
  }

  addHeads(subscriber: Subscriber, form: HeadForm): () => void {
    return this.#heads[form].add(subscriber);
  }

  addPending(subscriber: Subscriber, isFull: boolean): () => void {
    return this.#pending[isFull ? "full" : "hash"].add(subscriber);
  }

  /** Emits the present state at once, and every change. */
  addSyncing(subscriber: Subscriber): () => void {
    this.#emitSyncing();
    subscriber.notify(this.#lastSync);
    const remove = this.#syncing.add(subscriber);
    this.#syncCheck ??= setInterval(() => this.#emitSyncing(), SYNC_CHECK_MS).unref();
    return () => {
      remove();
      if (this.#syncing.size === 0) this.#stopSyncCheck();
    };
  }

  /** Ends listening to chain and pool. */
  close(): void {
    for (const stop of this.#stop) stop();
    this.#stopSyncCheck();
  }

  #emitBlock(executed: ExecutedBlock): void {
    if (this.#heads.header.size > 0) {
      const { header } = executed.block;
      const text = latin1(this.#blockJson.get(executed, "header"));
      this.#notifier.publish(this.#heads.header, `${text.slice(0, -1)}${absentMembers(header)}}`);
    }
    for (const form of ["hashes", "full"] as const) {
      const audience = this.#heads[form];
      if (audience.size === 0) continue;
      this.#notifier.publish(audience, latin1(this.#blockJson.get(executed, form)));
    }
    this.logs.publish(executed);
    this.receipts.publish(executed);
  }

  #emitPending(entries: readonly PooledTransaction[]): void {
    const { hash, full } = this.#pending;
    for (const { tx, sender } of entries) {
      if (hash.size > 0) this.#notifier.publish(hash, plainText(tx.hash));
      if (full.size > 0) this.#notifier.publish(full, transactionText(tx, sender));
    }
  }

  #emitSyncing(): void {
    const text = syncText(this.#node.syncProgress());
    if (text === this.#lastSync) return;
    this.#lastSync = text;
    this.#notifier.publish(this.#syncing, text);
  }

  #stopSyncCheck(): void {
    clearInterval(this.#syncCheck);
    this.#syncCheck = undefined;
  }
}

function syncText(progress: SyncProgress | undefined): string {
  return progress === undefined
    ? "false"
    : `{"syncing":true,"status":${syncProgressText(progress)}}`;
}
