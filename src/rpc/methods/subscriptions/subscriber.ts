import type { JsonText } from "../../transport/codec.ts";
import type { Connection } from "../../transport/dispatch/context.ts";
import { joinedJson } from "../json/write.ts";

/** Notifications before the answer with the id is sent: a batch with other calls may delay it. */
const HELD_MAX = 1000;

/** One subscription of one connection. */
export class Subscriber {
  readonly id: string;
  readonly connection: Connection;
  /** Of who subscribed. */
  readonly address: string | undefined;
  readonly #head: string;
  /** Results that came before the client could know the id; undefined once it can. */
  #held: string[] | undefined = [];
  #isActive = true;
  #onRelease: (() => void) | undefined;

  constructor(namespace: string, id: string, connection: Connection, address?: string) {
    this.id = id;
    this.connection = connection;
    this.address = address;
    this.#head = `{"jsonrpc":"2.0","method":"${namespace}_subscription","params":{"subscription":"${id}","result":`;
  }

  get isActive(): boolean {
    return this.#isActive;
  }

  /** The message with the JSON text `result`, undefined when none is to be sent: the subscription is over or not released yet. */
  message(result: string): string | undefined {
    if (!this.#isActive) return undefined;
    if (this.#held === undefined) return `${this.#head}${result}}}`;
    this.#held.push(result);
    if (this.#held.length > HELD_MAX) this.connection.overrun();
    return undefined;
  }

  /** Sends one notification at once. */
  notify(result: string): void {
    const message = this.message(result);
    if (message !== undefined) this.connection.notify([message]);
  }

  /** Sends one notification of any size; see `Connection.deliver`. Only after `whenReleased`. */
  deliver(result: JsonText): Promise<void> {
    return this.connection.deliver(joinedJson(this.#head, result, "}}"));
  }

  /** Runs `task` once the client can know the id. */
  whenReleased(task: () => void): void {
    this.#onRelease = task;
  }

  /** The id is on its way to the client: the held notifications follow. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const result of held) this.notify(result);
    if (this.#isActive) this.#onRelease?.();
  }

  end(): void {
    this.#isActive = false;
    this.#held = undefined;
  }
}
