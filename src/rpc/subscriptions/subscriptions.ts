import type { CallContext, Connection } from "../dispatch/context.ts";
import {
  NotificationsUnsupportedError,
  SubscriptionNotFoundError,
  TooManyError,
} from "../dispatch/errors.ts";
import { randomId } from "../filters/random-id.ts";
import { Subscriber } from "./subscriber.ts";

type Entry = { readonly subscriber: Subscriber; readonly stop: () => void };

/** The subscriptions of every connection, in all namespaces. An id means something to its own connection only. */
export class Subscriptions {
  readonly #maxPerConnection: number;
  readonly #byConnection = new Map<Connection, Map<string, Entry>>();

  constructor(options: { readonly maxPerConnection: number }) {
    this.#maxPerConnection = options.maxPerConnection;
  }

  /** Of all connections. */
  get size(): number {
    let size = 0;
    for (const entries of this.#byConnection.values()) size += entries.size;
    return size;
  }

  /**
   * Begins a subscription of the caller and gives back its id. It ends when the caller says so or is gone.
   * @param start makes the subscriber hear of its subject from now on; gives back how to stop that
   * @throws NotificationsUnsupportedError, TooManyError
   */
  open(
    namespace: string,
    context: CallContext,
    start: (subscriber: Subscriber) => () => void,
  ): string {
    const { connection } = context;
    if (connection === undefined) throw new NotificationsUnsupportedError();
    const entries = this.#entriesOf(connection);
    if (entries.size >= this.#maxPerConnection) {
      throw new TooManyError(`too many subscriptions: ${this.#maxPerConnection}`);
    }
    const subscriber = new Subscriber(namespace, randomId(), connection);
    const entry = { subscriber, stop: start(subscriber) };
    entries.set(subscriber.id, entry);
    // The caller was gone before its call was run.
    if (this.#byConnection.get(connection) !== entries) end(entry);
    context.afterReply(() => subscriber.release());
    return subscriber.id;
  }

  /** @throws SubscriptionNotFoundError */
  close(id: string, connection: Connection | undefined): void {
    const entries = connection && this.#byConnection.get(connection);
    const entry = entries?.get(id);
    if (entry === undefined) throw new SubscriptionNotFoundError();
    entries!.delete(id);
    end(entry);
  }

  #entriesOf(connection: Connection): Map<string, Entry> {
    const known = this.#byConnection.get(connection);
    if (known !== undefined) return known;
    const entries = new Map<string, Entry>();
    this.#byConnection.set(connection, entries);
    connection.onClose(() => {
      this.#byConnection.delete(connection);
      for (const entry of entries.values()) end(entry);
      entries.clear();
    });
    return entries;
  }
}

function end({ subscriber, stop }: Entry): void {
  subscriber.end();
  stop();
}
