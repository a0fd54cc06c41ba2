/** Runs tasks of one key one after the other, tasks of different keys at the same time. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<unknown>>();

  /** What `task` gives, after every task of `key` before it has ended. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(task, task);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
