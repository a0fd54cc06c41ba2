/** Some 10,000 blocks of a transfer each, and 10 MB. */
const ENTRIES_MAX = 100_000;

/** What each key held before the newest transactions wrote it. The oldest entries go when there are too many. */
export class UndoLog {
  #keys: string[] = [];
  #values: (Uint8Array | undefined)[] = [];
  /** Entries that are gone. */
  #start = 0;

  /** Position after the newest entry. */
  get end(): number {
    return this.#start + this.#keys.length;
  }

  /** Every entry from `position` on is there. */
  has(position: number): boolean {
    return position >= this.#start && position <= this.end;
  }

  /** @param replaced value of each key before a transaction, undefined where it had none */
  add(replaced: ReadonlyMap<string, Uint8Array | undefined>): void {
    for (const [key, value] of replaced) {
      this.#keys.push(key);
      this.#values.push(value);
    }
    const surplus = this.#keys.length - ENTRIES_MAX;
    // Half as many at a time, so that each entry is moved twice at most.
    if (surplus < ENTRIES_MAX / 2) return;
    this.#keys = this.#keys.slice(surplus);
    this.#values = this.#values.slice(surplus);
    this.#start += surplus;
  }

  /** Restores what there was at `position`, from the newest entry to the oldest. */
  undoTo(position: number, restore: (key: string, value: Uint8Array | undefined) => void): void {
    while (this.end > position) restore(this.#keys.pop()!, this.#values.pop());
  }
}
