/** Milliseconds of recharge that a bucket holds. */
const BUFFER_MS = 6000;

/** A token bucket of cost units (1 ≈ 1 ns of one thread) that `capacity` units flow into each millisecond. */
export class CapacityBucket {
  #capacity: number;
  #level: number;
  #updatedMs: number;

  constructor(capacity: number, nowMs: number) {
    this.#capacity = capacity;
    this.#level = capacity * BUFFER_MS;
    this.#updatedMs = nowMs;
  }

  get capacity(): number {
    return this.#capacity;
  }

  setCapacity(capacity: number, nowMs: number): void {
    this.#recharge(nowMs);
    this.#capacity = capacity;
    this.#level = Math.min(this.#level, capacity * BUFFER_MS);
  }

  /**
   * A cost is known once it is paid, so a bucket can go below empty.
   * @param cost below 0: that much is returned
   */
  take(cost: number, nowMs: number): void {
    this.#recharge(nowMs);
    this.#level = Math.min(this.#level - cost, this.#capacity * BUFFER_MS);
  }

  /** Milliseconds until the bucket is not below empty; 0 when it is not. */
  waitMs(nowMs: number): number {
    this.#recharge(nowMs);
    return this.#level >= 0 ? 0 : -this.#level / this.#capacity;
  }

  /** From 0 to 1; below 0 when it is below empty. */
  fill(nowMs: number): number {
    this.#recharge(nowMs);
    return this.#level / (this.#capacity * BUFFER_MS);
  }

  #recharge(nowMs: number): void {
    const elapsed = Math.max(0, nowMs - this.#updatedMs);
    this.#updatedMs = nowMs;
    this.#level = Math.min(this.#level + elapsed * this.#capacity, this.#capacity * BUFFER_MS);
  }
}
