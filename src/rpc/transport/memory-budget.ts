/**
 * Bytes that all connections together may hold. When a connection takes the sum over the limit, the holders of the most bytes are
 * evicted, the oldest first among equals, until some room is free again: a small request is never the largest.
 */
export class MemoryBudget {
  readonly #bytesMax: number;
  readonly #onChange: (bytes: number) => void;
  /** Shares that hold something, in the order in which they began to. */
  readonly #holders = new Set<MemoryShare>();
  #bytes = 0;

  /** @param onChange receives the sum after every change */
  constructor(bytesMax: number, onChange: (bytes: number) => void = () => {}) {
    this.#bytesMax = bytesMax;
    this.#onChange = onChange;
  }

  /** Held by all shares. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param evict frees the share's memory by closing its connection */
  open(evict: () => void): MemoryShare {
    return new MemoryShare(evict, (share, change) => this.#changed(share, change));
  }

  #changed(share: MemoryShare, change: number): void {
    this.#bytes += change;
    if (share.bytes === 0) this.#holders.delete(share);
    else this.#holders.add(share);
    if (this.#bytes > this.#bytesMax) this.#evictLargest();
    this.#onChange(this.#bytes);
  }

  #evictLargest(): void {
    // Not just below the limit: the sort is paid for by what arrives until the next one.
    const target = this.#bytesMax * FREE_TO;
    for (const share of [...this.#holders].sort((a, b) => b.bytes - a.bytes)) {
      if (this.#bytes <= target) return;
      share.evict();
    }
  }
}

const FREE_TO = 15 / 16;

/** What one connection holds of a budget. */
export class MemoryShare {
  readonly #evict: () => void;
  readonly #changed: (share: MemoryShare, change: number) => void;
  #bytes = 0;
  #isClosed = false;

  constructor(evict: () => void, changed: (share: MemoryShare, change: number) => void) {
    this.#evict = evict;
    this.#changed = changed;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Sets the bytes of the share. */
  set(bytes: number): void {
    if (this.#isClosed || bytes === this.#bytes) return;
    const change = bytes - this.#bytes;
    this.#bytes = bytes;
    this.#changed(this, change);
  }

  add(bytes: number): void {
    this.set(this.#bytes + bytes);
  }

  /** Gives everything back; the share can hold nothing any more. */
  close(): void {
    this.set(0);
    this.#isClosed = true;
  }

  evict(): void {
    this.close();
    this.#evict();
  }
}

/** The budgets of one server, shared by its listeners. */
export type MemoryBudgets = {
  /** Requests that are being received or wait for their answers. */
  readonly input: MemoryBudget;
  /** Answers to batches that still run; answers and notifications that clients have not read. */
  readonly output: MemoryBudget;
};
