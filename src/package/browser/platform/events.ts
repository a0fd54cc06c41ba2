type Listener = (...args: never[]) => void;

/** Node's `EventEmitter`: listeners run in the order in which they were added. */
export class EventEmitter {
  readonly #listeners = new Map<string, readonly Listener[]>();

  on(event: string, listener: Listener): this {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
    return this;
  }

  off(event: string, listener: Listener): this {
    const listeners = this.#listeners.get(event) ?? [];
    const at = listeners.lastIndexOf(listener);
    if (at >= 0) this.#listeners.set(event, listeners.toSpliced(at, 1));
    return this;
  }

  once(event: string, listener: Listener): this {
    const wrapped = (...args: never[]) => {
      this.off(event, wrapped);
      listener(...args);
    };
    return this.on(event, wrapped);
  }

  emit(event: string, ...args: unknown[]): boolean {
    const listeners = this.#listeners.get(event) ?? [];
    for (const listener of listeners) listener(...(args as never[]));
    return listeners.length > 0;
  }

  addListener(event: string, listener: Listener): this {
    return this.on(event, listener);
  }

  removeListener(event: string, listener: Listener): this {
    return this.off(event, listener);
  }

  listenerCount(event: string): number {
    return this.#listeners.get(event)?.length ?? 0;
  }
}
