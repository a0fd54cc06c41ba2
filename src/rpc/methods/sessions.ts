import type { Hash } from "../../base/primitives/hash.ts";
import type { SharedSlices } from "../../base/threads/shared-slices.ts";
import { beginWait } from "../../base/threads/waits.ts";
import { TooManyError } from "../transport/errors.ts";
import type { CallBundles } from "./call-bundles.ts";
import type { Filters } from "./filters/filters.ts";
import type { BlockJsonCache } from "./json/block-json-cache.ts";
import type { EthFeeds } from "./subscriptions/eth-feeds.ts";
import type { Subscriptions } from "./subscriptions/subscriptions.ts";

/** What belongs to connections and callers: it lives in the process that serves them. */
export type Sessions = {
  readonly filters: Filters;
  readonly subscriptions: Subscriptions;
  readonly feeds: EthFeeds;
  readonly traceChains: TraceChains;
  readonly blockJson: BlockJsonCache;
  readonly slices: MethodSlices;
  /** One nonce at a time per account. */
  readonly sendLock: KeyedLock;
  /** Of the wallet that a dev chain is to pages. */
  readonly callBundles: CallBundles;
  readonly hashrates: HashrateRegistry;
};

/** Those of the connections of one process; the others are in the chain's process for all. */
export type ConnectionSessions = Pick<Sessions, "subscriptions" | "feeds" | "traceChains" | "blockJson" | "slices">;

/** What all callers of one process take together of a turn of the event loop. */
export type MethodSlices = {
  /** For whole blocks and pools as JSON. */
  readonly json: SharedSlices;
  /** For hashes of long inputs. */
  readonly hash: SharedSlices;
};

/** What methods that write long answers need of the sessions. */
export type JsonSessions = { readonly sessions: { readonly slices: Pick<MethodSlices, "json"> } };

/** Runs tasks of one key one after the other, tasks of different keys at the same time. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<unknown>>();

  /** What `task` gives, after every task of `key` before it has ended. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const ended = before && beginWait("lock of a sender");
    const run = () => {
      ended?.();
      return task();
    };
    const mine = (before ?? Promise.resolve()).then(run, run);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}

/** A miner that is silent for this long is gone, as geth's remote sealer has it. */
const EXPIRY_MS = 10_000;

/** Miners remembered at a time; ids are chosen by the caller, so their number must be bounded. */
const MINERS_MAX = 1_000;

/** The hashrates miners report, in hashes a second. */
export class HashrateRegistry {
  readonly #now: () => number;
  /** In order of the last report, oldest first. */
  readonly #reports = new Map<Hash, { readonly rate: bigint; readonly at: number }>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  report(miner: Hash, rate: bigint): void {
    this.#forgetSilent();
    this.#reports.delete(miner);
    const [oldest] = this.#reports.keys();
    if (oldest !== undefined && this.#reports.size >= MINERS_MAX) this.#reports.delete(oldest);
    this.#reports.set(miner, { rate, at: this.#now() });
  }

  /** Of all miners that are not silent. */
  total(): bigint {
    this.#forgetSilent();
    let sum = 0n;
    for (const { rate } of this.#reports.values()) sum += rate;
    return sum;
  }

  #forgetSilent(): void {
    const oldest = this.#now() - EXPIRY_MS;
    for (const [miner, { at }] of this.#reports) {
      if (at > oldest) break;
      this.#reports.delete(miner);
    }
  }
}

/** The `traceChain` subscriptions of all connections. */
export class TraceChains {
  readonly #max: number;
  /** Receives why a block could not be traced where that is a fault of the node. */
  readonly onError: (error: unknown) => void;
  #size = 0;

  constructor(options: { readonly max: number; readonly onError: (error: unknown) => void }) {
    this.#max = options.max;
    this.onError = options.onError;
  }

  get size(): number {
    return this.#size;
  }

  /** @throws TooManyError */
  begin(): void {
    if (this.#size >= this.#max) throw new TooManyError(`too many chains are traced: ${this.#max}`);
    this.#size++;
  }

  end(): void {
    this.#size--;
  }
}
