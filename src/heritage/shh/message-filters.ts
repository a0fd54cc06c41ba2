import type { Hash } from "../../base/primitives/hash.ts";
import { hexDigits } from "../../base/primitives/hex.ts";
import { WhisperLimitError } from "./errors.ts";
import type { Identity, OpenedMessage } from "./message.ts";

/** What a filter accepts. */
export type MessageCriteria = {
  /** Only messages encrypted for it. */
  readonly to: Identity | undefined;
  /** Only messages signed by it. */
  readonly from: Identity | undefined;
  /** By position: wire topics, one of which must match; empty: any. */
  readonly topics: readonly (readonly Uint8Array[])[];
};

type MessageFiltersOptions = {
  readonly filtersMax: number;
  /** A filter that is not polled for this long is removed. */
  readonly idleMs: number;
};

type Filter = {
  readonly criteria: MessageCriteria;
  /** Hex digits, for comparison. */
  readonly topics: readonly ReadonlySet<string>[];
  /** Messages not yet returned. */
  waiting: Hash[];
  polledMs: number;
};

/** Filters by id, and for each the messages since it was last polled. */
export class MessageFilters {
  readonly #options: MessageFiltersOptions;
  readonly #nowMs: () => number;
  readonly #newId: () => string;
  readonly #filters = new Map<string, Filter>();

  constructor(options: MessageFiltersOptions, modules: { readonly nowMs: () => number; readonly newId: () => string }) {
    this.#options = options;
    this.#nowMs = modules.nowMs;
    this.#newId = modules.newId;
  }

  get size(): number {
    return this.#filters.size;
  }

  /** @throws WhisperLimitError */
  install(criteria: MessageCriteria): string {
    if (this.#filters.size >= this.#options.filtersMax) {
      throw new WhisperLimitError("too many message filters");
    }
    const id = this.#newId();
    const topics = criteria.topics.map((position) => new Set(position.map(hexDigits)));
    this.#filters.set(id, { criteria, topics, waiting: [], polledMs: this.#nowMs() });
    return id;
  }

  uninstall(id: string): boolean {
    return this.#filters.delete(id);
  }

  /** Messages since the last poll; empty for an unknown filter. */
  takeChanges(id: string): readonly Hash[] {
    const filter = this.#polled(id);
    if (filter === undefined) return [];
    const { waiting } = filter;
    filter.waiting = [];
    return waiting;
  }

  /** Messages that pass the filter; undefined if the id is unknown. Its changes count as polled. */
  matcher(id: string): ((topics: readonly string[], open: OpenMessage) => boolean) | undefined {
    const filter = this.#polled(id);
    if (filter === undefined) return undefined;
    filter.waiting = [];
    return (topics, open) => matches(filter, topics, open);
  }

  /** Adds a new message to all matching filters. @param topics hex digits */
  offer(hash: Hash, topics: readonly string[], open: OpenMessage): void {
    for (const filter of this.#filters.values()) {
      if (matches(filter, topics, open)) filter.waiting.push(hash);
    }
  }

  /** Removes filters that are not polled, and expired messages from the others. */
  sweep(isGone: (hash: Hash) => boolean): void {
    const idleSince = this.#nowMs() - this.#options.idleMs;
    for (const [id, filter] of this.#filters) {
      if (filter.polledMs < idleSince) this.#filters.delete(id);
      else if (filter.waiting.length > 0) {
        filter.waiting = filter.waiting.filter((hash) => !isGone(hash));
      }
    }
  }

  #polled(id: string): Filter | undefined {
    const filter = this.#filters.get(id);
    if (filter) filter.polledMs = this.#nowMs();
    return filter;
  }
}

/** Decrypts a message on demand: topics are compared first, and decryption takes a fraction of a millisecond. */
type OpenMessage = () => OpenedMessage | undefined;

function matches({ criteria, topics }: Filter, given: readonly string[], open: OpenMessage): boolean {
  if (given.length < topics.length) return false;
  const isTopical = topics.every((wanted, i) => wanted.size === 0 || wanted.has(given[i]!));
  if (!isTopical) return false;
  const message = open();
  if (message === undefined) return false;
  const { to, from } = criteria;
  return (to === undefined || message.to === to) && (from === undefined || message.from === from);
}
