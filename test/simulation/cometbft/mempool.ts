import { hash } from "node:crypto";
import type { Application } from "./abci-client.ts";
import type { Log } from "./log.ts";
import type { Peers } from "./peers.ts";
import type { Settings } from "./settings.ts";
import type { System } from "./world.ts";

/** Codes from here on: try again. */
const RETRY = 32_000;
/** A retry code is forgotten this much sooner than a refusal. */
const RETRY_DIVISOR = 10;
const ACCEPTED = 0;
/**
 * While nothing comes the real program asks all the same, twenty times a second, and most of what a simulation does would be that. The model waits twice as
 * long after each empty reply, up to so many intervals: a transaction of an idle node goes out that much later.
 */
const IDLE_INTERVALS_MAX = 16;
/** Tag and length of a transaction in a message of several. */
const TX_OVERHEAD_BYTES = 6;

type MempoolModules = {
  readonly application: Application;
  readonly peers: () => Peers;
  /** Transactions that peers get and this node does not have. */
  readonly invented: () => readonly Uint8Array[];
  readonly system: System;
  readonly log: Log;
};

/** CometBFT's mempool of type "app", which only carries transactions between the application and peers: mempool/app_mempool.go, app_reactor.go. */
export class Mempool {
  readonly #settings: Settings["mempool"];
  readonly #modules: MempoolModules;
  /** Hashes in the order in which they were seen last. */
  readonly #seen = new Set<string>();
  #isOn = false;
  /** Intervals until the next reap. */
  #intervals = 1;
  /** Transactions of peers go to the application one at a time. */
  #inserting: Promise<void> = Promise.resolve();

  constructor(settings: Settings["mempool"], modules: MempoolModules) {
    this.#settings = settings;
    this.#modules = modules;
  }

  /** This node has caught up: transactions go in and out. */
  switchOn(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    if (this.#settings.broadcast) this.#reapLater();
  }

  /** Transactions of a peer. */
  receive(txs: readonly Uint8Array[]): void {
    if (!this.#isOn) return;
    this.#inserting = this.#inserting
      .then(() => this.#insertAll(txs))
      .catch(() => {
        // The application is gone, and the process with it.
      });
  }

  async #insertAll(txs: readonly Uint8Array[]): Promise<void> {
    for (const tx of txs) {
      const key = keyOf(tx);
      if (tx.length === 0 || tx.length > this.#settings.txBytesMax || !this.#see(key)) continue;
      const { code } = await this.#modules.application.mempool.call("insertTx", { tx });
      if (code === ACCEPTED) continue;
      if (code >= RETRY) this.#forgetLater(key, this.#settings.retryDelayMs / RETRY_DIVISOR);
      this.#modules.log.info("mempool", "Failed to insert tx", {
        err: `invalid code: (code=${code})`,
        tx: key.toUpperCase(),
      });
    }
  }

  #reapLater(): void {
    this.#modules.system.after(this.#settings.reapIntervalMs * this.#intervals, () => {
      this.#reap().then(
        () => this.#reapLater(),
        () => {
          // The application is gone, and the process with it.
        },
      );
    });
  }

  async #reap(): Promise<void> {
    const { application, peers, invented: invent } = this.#modules;
    const invented = invent();
    if (invented.length > 0) peers().broadcast({ kind: "transactions", txs: invented });
    const { reapBytesMax, reapGasMax, batchBytesMax } = this.#settings;
    const { txs } = await application.mempool.call("reapTxs", {
      maxBytes: BigInt(reapBytesMax),
      maxGas: BigInt(reapGasMax),
    });
    this.#intervals = txs.length > 0 ? 1 : Math.min(2 * this.#intervals, IDLE_INTERVALS_MAX);
    if (txs.length === 0) return;
    for (const batch of batchesOf(txs, batchBytesMax)) peers().broadcast({ kind: "transactions", txs: batch });
    for (const tx of txs) this.#see(keyOf(tx));
  }

  /** @returns false for one that was seen already */
  #see(key: string): boolean {
    const isNew = !this.#seen.delete(key);
    this.#seen.add(key);
    if (this.#seen.size > this.#settings.seenCacheSize) {
      const [oldest] = this.#seen;
      this.#seen.delete(oldest!);
    }
    return isNew;
  }

  #forgetLater(key: string, ms: number): void {
    this.#modules.system.after(ms, () => this.#seen.delete(key));
  }
}

function keyOf(tx: Uint8Array): string {
  return hash("sha256", tx, "hex");
}

function batchesOf(txs: readonly Uint8Array[], bytesMax: number): readonly (readonly Uint8Array[])[] {
  const batches: Uint8Array[][] = [[]];
  let bytes = 0;
  for (const tx of txs) {
    const size = tx.length + TX_OVERHEAD_BYTES;
    if (bytes + size > bytesMax && batches.at(-1)!.length > 0) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(Uint8Array.from(tx));
    bytes += size;
  }
  return batches;
}
