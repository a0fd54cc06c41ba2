import type { Address } from "../../../base/primitives/address.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import type { Log } from "../../../base/types/receipt.ts";
import type { LogFilter } from "../../../chain/logs/log-filter.ts";
import { TooManyError } from "../../transport/errors.ts";
import { EqualShares } from "../../transport/server/equal-shares.ts";
import { logText } from "../json/receipt-json.ts";
import type { BlockRange } from "../params/log-criteria.ts";
import { Audience } from "./audience.ts";
import type { Notifier } from "./notifier.ts";
import type { Subscriber } from "./subscriber.ts";

/** The subscribers of one filter. */
type Entry = {
  readonly filter: LogFilter;
  readonly range: BlockRange;
  readonly terms: number;
  readonly audience: Audience;
  /** Subscribers by their address. */
  readonly holders: Map<string | undefined, number>;
  /** The holder whose share the terms are of. */
  payer: string | undefined;
};

/** A log in its block; its JSON text is made when the first filter matches it. */
type PlacedLog = { readonly log: Log; readonly index: number; readonly text: () => string };

/** Logs looked at before the notifier looks at its clock. */
const LOGS_PER_STEP = 1000;

/** The `logs` subscriptions. Equal filters are compared with a log once, and a log is encoded once. */
export class LogFeed {
  readonly #notifier: Notifier;
  readonly #termsMax: number;
  readonly #entries = new Map<string, Entry>();
  readonly #terms: EqualShares;

  /** @param options.termsMax addresses and topics of all filters together, from where on each address has an equal share */
  constructor(options: { readonly termsMax: number }, notifier: Notifier) {
    this.#notifier = notifier;
    this.#termsMax = options.termsMax;
    this.#terms = new EqualShares(options.termsMax);
  }

  /** @throws TooManyError */
  add(subscriber: Subscriber, filter: LogFilter, range: BlockRange): () => void {
    const key = keyOf(filter, range);
    const { address } = subscriber;
    const entry = this.#entries.get(key) ?? this.#open(key, filter, range, address);
    const remove = entry.audience.add(subscriber);
    entry.holders.set(address, (entry.holders.get(address) ?? 0) + 1);
    return () => {
      remove();
      this.#release(key, entry, address);
    };
  }

  #release(key: string, entry: Entry, address: string | undefined): void {
    const { holders, terms } = entry;
    const left = holders.get(address)! - 1;
    if (left > 0) {
      holders.set(address, left);
      return;
    }
    holders.delete(address);
    if (holders.size === 0) this.#entries.delete(key);
    if (entry.payer !== address && holders.size > 0) return;
    this.#terms.add(entry.payer, -terms);
    if (holders.size === 0) return;
    // The filter stays, and so does its cost.
    [entry.payer] = holders.keys();
    this.#terms.add(entry.payer, terms);
  }

  /** One notification for each log of the block and each subscriber whose filter it matches. */
  publish(executed: ExecutedBlock, isRemoved = false): void {
    if (this.#entries.size === 0) return;
    // Those of now: a later subscriber does not get the logs of this block.
    const entries = Array.from(this.#entries.values(), ({ filter, range, audience }) => ({
      filter,
      range,
      groups: audience.groups,
    }));
    this.#notifier.run(this.#match(entries, executed, isRemoved));
  }

  #open(key: string, filter: LogFilter, range: BlockRange, payer: string | undefined): Entry {
    const terms = filter.topics.reduce((sum, topics) => sum + (topics?.size ?? 0), filter.addresses?.size ?? 0);
    if (terms > 0 && !this.#terms.mayTake(payer, terms)) {
      throw new TooManyError(`too many addresses and topics in the filters of all subscriptions: ${this.#termsMax}`);
    }
    this.#terms.add(payer, terms);
    const entry = { filter, range, terms, audience: new Audience(), holders: new Map(), payer };
    this.#entries.set(key, entry);
    return entry;
  }

  *#match(
    entries: readonly (Pick<Entry, "filter" | "range"> & Pick<Audience, "groups">)[],
    executed: ExecutedBlock,
    isRemoved: boolean,
  ): Generator<void> {
    const logs: PlacedLog[] = [];
    const byAddress = new Map<Address, PlacedLog[]>();
    for (const placed of placedLogs(executed, isRemoved)) {
      logs.push(placed);
      const { address } = placed.log;
      const known = byAddress.get(address);
      if (known === undefined) byAddress.set(address, [placed]);
      else known.push(placed);
      if (logs.length % LOGS_PER_STEP === 0) yield;
    }
    if (logs.length === 0) return;
    const { number } = executed.block.header;
    let steps = 0;
    for (const { filter, range, groups } of entries) {
      if (number < range.from || number > range.to) continue;
      steps += byAddress.size;
      for (const { log, text } of logsAt(filter.addresses, byAddress) ?? logs) {
        if (filter.matches(log)) this.#notifier.publishTo(groups, text());
        if (++steps < LOGS_PER_STEP) continue;
        steps = 0;
        yield;
      }
    }
  }
}

/** Equal for filters that match the same logs. */
function keyOf({ addresses, topics }: LogFilter, { from, to }: BlockRange): string {
  const terms = topics.map((some) => (some === undefined ? null : [...some].sort()));
  return JSON.stringify([from, to, addresses === undefined ? null : [...addresses].sort(), terms]);
}

/** The logs of `addresses` in the order of the block; undefined for any address. */
function logsAt(
  addresses: ReadonlySet<Address> | undefined,
  byAddress: ReadonlyMap<Address, readonly PlacedLog[]>,
): readonly PlacedLog[] | undefined {
  if (addresses === undefined) return undefined;
  const found: (readonly PlacedLog[])[] = [];
  for (const [address, logs] of byAddress) if (addresses.has(address)) found.push(logs);
  return found.length <= 1 ? (found[0] ?? []) : found.flat().sort((a, b) => a.index - b.index);
}

function* placedLogs({ block, receipts }: ExecutedBlock, isRemoved: boolean): Generator<PlacedLog> {
  const { number, timestamp } = block.header;
  let logIndex = 0;
  for (const [transactionIndex, { logs }] of receipts.entries()) {
    for (const log of logs) {
      const position = {
        blockHash: block.hash,
        blockNumber: number,
        blockTimestamp: timestamp,
        transactionHash: block.transactions[transactionIndex]!.hash,
        transactionIndex,
        logIndex,
      };
      let text: string | undefined;
      yield {
        log,
        index: logIndex++,
        text: () => {
          text ??= logText(log, position, isRemoved);
          return text;
        },
      };
    }
  }
}
