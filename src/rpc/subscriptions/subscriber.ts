import type { Connection } from "../dispatch/context.ts";

/** One subscription of one connection. */
export class Subscriber {
  readonly id: string;
  readonly #connection: Connection;
  readonly #head: string;
  /** Notices that came before the client could know the id; undefined once it can. */
  #held: string[] | undefined = [];
  #isActive = true;

  constructor(namespace: string, id: string, connection: Connection) {
    this.id = id;
    this.#connection = connection;
    this.#head = `{"jsonrpc":"2.0","method":"${namespace}_subscription","params":{"subscription":"${id}","result":`;
  }

  get isActive(): boolean {
    return this.#isActive;
  }

  /** Sends one notice with the JSON text `result`; does nothing once the subscription is over. */
  notify(result: string): void {
    if (!this.#isActive) return;
    if (this.#held !== undefined) this.#held.push(result);
    else this.#connection.notify(`${this.#head}${result}}}`);
  }

  /** The id is on its way to the client: what was held back follows. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const result of held) this.notify(result);
  }

  end(): void {
    this.#isActive = false;
    this.#held = [];
  }
}
