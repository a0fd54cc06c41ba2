import type { Address } from "../../base/primitives/address.ts";
import type { Timer, Timers } from "../../base/telemetry/timers.ts";

type Held = {
  readonly key: Uint8Array;
  /** Monotonic milliseconds; undefined: until the node exits */
  readonly expiresAt: number | undefined;
  readonly timer: Timer | undefined;
};

/**
 * Private keys in memory, each until it expires.
 *
 * A forgotten key is overwritten with zeros. JavaScript permits no more: the bytes are in one array that nothing here copies, but signature
 * libraries work on copies.
 */
export class UnlockedKeys {
  readonly #timers: Pick<Timers, "now" | "after">;
  readonly #held = new Map<Address, Held>();
  /** Number of locks per account, so that an unlock that began before a lock does not undo it. */
  readonly #locks = new Map<Address, number>();

  constructor(timers: Pick<Timers, "now" | "after">) {
    this.#timers = timers;
  }

  /** Marks the beginning of an unlock, for `hold`. */
  beginUnlock(address: Address): number {
    return this.#locks.get(address) ?? 0;
  }

  /**
   * Keeps `key` for `durationMs`, or until the node exits if that is undefined. A second call restarts the time, but a key held until exit stays
   * so, as in geth.
   *
   * @param key is owned by this object from now on
   * @param begun result of `beginUnlock`
   * @returns false, with the key wiped, if the account was locked since
   */
  hold(address: Address, key: Uint8Array, durationMs: number | undefined, begun = this.beginUnlock(address)): boolean {
    if (begun !== this.beginUnlock(address)) {
      key.fill(0);
      return false;
    }
    const before = this.#held.get(address);
    if (before !== undefined && before.expiresAt === undefined) {
      if (key !== before.key) key.fill(0);
      return true;
    }
    before?.timer?.cancel();
    if (before !== undefined && before.key !== key) before.key.fill(0);
    const expiresAt = durationMs === undefined ? undefined : this.#timers.now() + durationMs;
    const timer =
      durationMs === undefined
        ? undefined
        : this.#timers.after(durationMs, "lock of an account", () => this.#release(address));
    this.#held.set(address, { key, expiresAt, timer });
    return true;
  }

  /** Forgets the key, and invalidates unlocks in progress. */
  lock(address: Address): void {
    this.#locks.set(address, this.beginUnlock(address) + 1);
    this.#release(address);
  }

  lockAll(): void {
    for (const address of [...this.#held.keys()]) this.lock(address);
  }

  /** The key of an unlocked account; callers must not store it. */
  get(address: Address): Uint8Array | undefined {
    const held = this.#held.get(address);
    // A timer may be late; the clock decides.
    if (held?.expiresAt !== undefined && this.#timers.now() >= held.expiresAt) {
      this.#release(address);
      return undefined;
    }
    return held?.key;
  }

  /** Accounts unlocked now, in the order in which they were unlocked. */
  addresses(): Address[] {
    return [...this.#held.keys()].filter((address) => this.get(address) !== undefined);
  }

  #release(address: Address): void {
    const held = this.#held.get(address);
    if (held === undefined) return;
    held.timer?.cancel();
    held.key.fill(0);
    this.#held.delete(address);
  }
}
