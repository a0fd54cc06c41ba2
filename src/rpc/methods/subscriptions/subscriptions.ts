import type { CallContext, Connection } from "../../transport/dispatch/context.ts";
import { NotificationsUnsupportedError, SubscriptionNotFoundError, TooManyError } from "../../transport/errors.ts";
import { EqualShares } from "../../transport/server/equal-shares.ts";
import { randomId } from "../filters/random-id.ts";
import { Subscriber } from "./subscriber.ts";

type Entry = {
  readonly subscriber: Subscriber;
  readonly stop: () => void;
};

export type SubscriptionsOptions = {
  readonly maxPerConnection: number;
  /** Of all connections together. */
  readonly max: number;
};

/** The subscriptions of every connection, in all namespaces. An id means something to its own connection only. */
export class Subscriptions {
  /** Called before a subscription begins, which does not receive earlier events. */
  onOpen: () => void = () => {};
  readonly #options: SubscriptionsOptions;
  readonly #byConnection = new Map<Connection, Map<string, Entry>>();
  readonly #shares: EqualShares;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    this.#shares = new EqualShares(options.max);
  }

  /** Of all connections. */
  get size(): number {
    return this.#shares.total;
  }

  /**
   * Begins a subscription of the caller and returns its id. It ends on the caller's request or with its connection.
   * @param start registers the subscriber with its feed; returns how to remove it
   * @throws NotificationsUnsupportedError, TooManyError
   */
  open(namespace: string, context: CallContext, start: (subscriber: Subscriber) => () => void): string {
    const { connection, source } = context;
    const address = source?.remoteAddress;
    if (connection === undefined) throw new NotificationsUnsupportedError();
    const entries = this.#entriesOf(connection);
    const { max, maxPerConnection } = this.#options;
    if (entries.size >= maxPerConnection) {
      throw new TooManyError(`too many subscriptions: ${maxPerConnection}`);
    }
    if (!this.#shares.mayTake(address, 1)) {
      throw new TooManyError(`too many subscriptions of all connections: ${max}`);
    }
    this.onOpen();
    const subscriber = new Subscriber(namespace, randomId(), connection, address);
    const entry = { subscriber, stop: start(subscriber) };
    // The caller was gone before its call was run.
    if (this.#byConnection.get(connection) !== entries) end(entry);
    else {
      entries.set(subscriber.id, entry);
      this.#shares.add(address, 1);
    }
    context.afterReply(() => subscriber.release());
    return subscriber.id;
  }

  /** @throws SubscriptionNotFoundError */
  close(id: string, connection: Connection | undefined): void {
    const entries = connection && this.#byConnection.get(connection);
    const entry = entries?.get(id);
    if (entry === undefined) throw new SubscriptionNotFoundError();
    entries!.delete(id);
    this.#shares.add(entry.subscriber.address, -1);
    end(entry);
  }

  #entriesOf(connection: Connection): Map<string, Entry> {
    const known = this.#byConnection.get(connection);
    if (known !== undefined) return known;
    const entries = new Map<string, Entry>();
    this.#byConnection.set(connection, entries);
    connection.onClose(() => {
      this.#byConnection.delete(connection);
      for (const entry of entries.values()) {
        this.#shares.add(entry.subscriber.address, -1);
        end(entry);
      }
      entries.clear();
    });
    return entries;
  }
}

function end({ subscriber, stop }: Entry): void {
  subscriber.end();
  stop();
}
