import type { Connection } from "../../transport/dispatch/context.ts";
import type { Subscriber } from "./subscriber.ts";

/** The subscribers of one connection. */
export type Group = {
  readonly connection: Connection;
  readonly subscribers: readonly Subscriber[];
};

/**
 * The subscribers that receive the same notifications, by connection. What `groups` returned never changes, so a notification
 * that waits to be sent refers to it instead of copying it.
 */
export class Audience {
  readonly #byConnection = new Map<Connection, readonly Subscriber[]>();
  #groups: readonly Group[] | undefined = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Those of now: the same array until a subscriber is added or removed. */
  get groups(): readonly Group[] {
    this.#groups ??= Array.from(this.#byConnection, ([connection, subscribers]) => ({
      connection,
      subscribers,
    }));
    return this.#groups;
  }

  /** Returns how to remove it. */
  add(subscriber: Subscriber): () => void {
    const { connection } = subscriber;
    this.#set(connection, [...(this.#byConnection.get(connection) ?? []), subscriber]);
    this.#size++;
    return () => {
      const others = this.#byConnection.get(connection);
      if (!others?.includes(subscriber)) return;
      this.#set(
        connection,
        others.filter((other) => other !== subscriber),
      );
      this.#size--;
    };
  }

  #set(connection: Connection, subscribers: readonly Subscriber[]): void {
    if (subscribers.length === 0) this.#byConnection.delete(connection);
    else this.#byConnection.set(connection, subscribers);
    this.#groups = undefined;
  }
}
