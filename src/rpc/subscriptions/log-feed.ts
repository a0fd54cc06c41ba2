import type { LogFilter } from "../../chain/logs/log-filter.ts";
import type { Address } from "../../primitives/address.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import type { Log } from "../../types/receipt.ts";
import { logText } from "../json/receipt-json.ts";
import type { BlockRange } from "../params/log-criteria.ts";
import type { Notifier } from "./notifier.ts";
import type { Subscriber } from "./subscriber.ts";

type Entry = {
  readonly subscriber: Subscriber;
  readonly filter: LogFilter;
  readonly range: BlockRange;
};

/** Subscribers of logs, found by the address they want, so that a log is compared with few of them. */
export class LogFeed {
  readonly #notifier: Notifier;
  readonly #byAddress = new Map<Address, Set<Entry>>();
  readonly #ofAnyAddress = new Set<Entry>();

  constructor(notifier: Notifier) {
    this.#notifier = notifier;
  }

  add(subscriber: Subscriber, filter: LogFilter, range: BlockRange): () => void {
    const entry = { subscriber, filter, range };
    const { addresses } = filter;
    if (addresses === undefined) {
      this.#ofAnyAddress.add(entry);
      return () => this.#ofAnyAddress.delete(entry);
    }
    for (const address of addresses) {
      const known = this.#byAddress.get(address);
      if (known === undefined) this.#byAddress.set(address, new Set([entry]));
      else known.add(entry);
    }
    return () => {
      for (const address of addresses) {
        const known = this.#byAddress.get(address);
        known?.delete(entry);
        if (known?.size === 0) this.#byAddress.delete(address);
      }
    };
  }

  /** One notice for each log of the block and each subscriber that wants it. */
  publish({ block, receipts }: ExecutedBlock, isRemoved = false): void {
    if (this.#byAddress.size === 0 && this.#ofAnyAddress.size === 0) return;
    const { number, timestamp } = block.header;
    let logIndex = -1;
    for (const [transactionIndex, { logs }] of receipts.entries()) {
      for (const log of logs) {
        logIndex++;
        const subscribers = this.#wanting(log, number);
        if (subscribers.length === 0) continue;
        const place = {
          blockHash: block.hash,
          blockNumber: number,
          blockTimestamp: timestamp,
          transactionHash: block.transactions[transactionIndex]!.hash,
          transactionIndex,
          logIndex,
        };
        this.#notifier.publish(subscribers, logText(log, place, isRemoved));
      }
    }
  }

  #wanting(log: Log, number: number): Subscriber[] {
    const subscribers: Subscriber[] = [];
    for (const entries of [this.#byAddress.get(log.address) ?? [], this.#ofAnyAddress]) {
      for (const { subscriber, filter, range } of entries) {
        if (number >= range.from && number <= range.to && filter.matches(log)) {
          subscribers.push(subscriber);
        }
      }
    }
    return subscribers;
  }
}
