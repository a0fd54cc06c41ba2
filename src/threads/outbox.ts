/**
 * Collects messages and sends them as one list: between processes, 64 messages in one cost 3.2 µs each where one alone costs 75 µs.
 */
export class Outbox<Message> {
  readonly #send: (messages: readonly Message[]) => void;
  readonly #isAfterTurn: boolean;
  #posted: Message[] = [];
  #leaving: Message[] = [];

  /**
   * @param send must not throw
   * @param options.isAfterTurn a message leaves after all work of the turn in which it was posted: the block that an accepted transaction
   * starts in an instant chain is there before the answer
   */
  constructor(
    send: (messages: readonly Message[]) => void,
    { isAfterTurn }: { readonly isAfterTurn: boolean },
  ) {
    this.#send = send;
    this.#isAfterTurn = isAfterTurn;
  }

  post(message: Message): void {
    this.#posted.push(message);
    if (this.#posted.length === 1) setImmediate(this.#isAfterTurn ? this.#endTurn : this.flush);
  }

  readonly #endTurn = (): void => {
    if (this.#leaving.length === 0) setImmediate(this.#sendLeaving);
    this.#leaving.push(...this.#posted);
    this.#posted = [];
  };

  readonly #sendLeaving = (): void => {
    const messages = this.#leaving;
    this.#leaving = [];
    if (messages.length > 0) this.#send(messages);
  };

  /** Sends everything posted so far. */
  readonly flush = (): void => {
    const messages = [...this.#leaving, ...this.#posted];
    this.#leaving = [];
    this.#posted = [];
    if (messages.length > 0) this.#send(messages);
  };
}
