import type { Hash } from "../../../base/primitives/hash.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import { minedReceipts } from "../../ports/mined.ts";
import type { BlockJsonCache } from "../json/block-json-cache.ts";
import { receiptText } from "../json/receipt-json.ts";
import { Audience } from "./audience.ts";
import type { Notifier } from "./notifier.ts";
import type { Subscriber } from "./subscriber.ts";

/** The subscribers of one list of transactions. */
type Entry = { readonly hashes: readonly Hash[]; readonly audience: Audience };

/** The `transactionReceipts` subscriptions, found by the transactions they name. */
export class ReceiptFeed {
  readonly #blockJson: BlockJsonCache;
  readonly #notifier: Notifier;
  readonly #ofAll = new Audience();
  readonly #entries = new Map<string, Entry>();
  readonly #byHash = new Map<Hash, Set<Entry>>();

  constructor(modules: { readonly blockJson: BlockJsonCache; readonly notifier: Notifier }) {
    this.#blockJson = modules.blockJson;
    this.#notifier = modules.notifier;
  }

  /** @param hashes empty: every transaction */
  add(subscriber: Subscriber, hashes: readonly Hash[]): () => void {
    if (hashes.length === 0) return this.#ofAll.add(subscriber);
    const key = [...new Set(hashes)].sort().join();
    const entry = this.#entries.get(key) ?? this.#open(key, hashes);
    const remove = entry.audience.add(subscriber);
    return () => {
      remove();
      if (entry.audience.size > 0 || this.#entries.get(key) !== entry) return;
      this.#entries.delete(key);
      for (const hash of entry.hashes) {
        const entries = this.#byHash.get(hash);
        entries?.delete(entry);
        if (entries?.size === 0) this.#byHash.delete(hash);
      }
    };
  }

  publish(executed: ExecutedBlock): void {
    const { transactions } = executed.block;
    if (transactions.length === 0) return;
    if (this.#byHash.size > 0) this.#publishNamed(executed);
    if (this.#ofAll.size > 0) {
      this.#notifier.publish(this.#ofAll, latin1(this.#blockJson.getAtOnce(executed, "receipts")));
    }
  }

  #publishNamed(executed: ExecutedBlock): void {
    const { transactions } = executed.block;
    const found = new Map<Entry, number[]>();
    for (const [index, { hash }] of transactions.entries()) {
      for (const entry of this.#byHash.get(hash) ?? []) {
        const indices = found.get(entry);
        if (indices === undefined) found.set(entry, [index]);
        else indices.push(index);
      }
    }
    const textAt = receiptTexts(executed);
    for (const [{ audience }, indices] of found) {
      // Made when it is sent: the texts of many lists together would be larger than the block many times over.
      this.#notifier.publish(audience, () => `[${indices.map(textAt).join(",")}]`);
    }
  }

  #open(key: string, hashes: readonly Hash[]): Entry {
    const entry = { hashes: [...new Set(hashes)], audience: new Audience() };
    this.#entries.set(key, entry);
    for (const hash of entry.hashes) {
      const known = this.#byHash.get(hash);
      if (known === undefined) this.#byHash.set(hash, new Set([entry]));
      else known.add(entry);
    }
    return entry;
  }
}

/** The JSON text of the receipt at an index, made once. */
function receiptTexts(executed: ExecutedBlock): (index: number) => string {
  const texts: string[] = [];
  const receipts = minedReceipts(executed);
  return (index) => {
    texts[index] ??= receiptText(receipts[index]!);
    return texts[index];
  };
}

export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
