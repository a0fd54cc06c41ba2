import { setImmediate } from "node:timers/promises";
import { type Failures, runGuarded } from "../../../../src/base/telemetry/failures.ts";
import {
  type SleepOptions,
  sleepWith,
  type Timer,
  type TimerOptions,
  type Timers,
} from "../../../../src/base/telemetry/timers.ts";

/** A timer that waits. */
export type WaitingTimer = {
  readonly where: string;
  /** Milliseconds from now. */
  readonly inMs: number;
  /** Of one that repeats. */
  readonly everyMs: number | undefined;
  readonly keepsAlive: boolean;
};

type Entry = {
  readonly where: string;
  readonly work: () => unknown;
  readonly everyMs: number | undefined;
  readonly keepsAlive: boolean;
  at: number;
};

type Options = {
  /** Where failures of work go; if absent, `advance`, `turn` or `check` throws the first. */
  readonly failures?: Pick<Failures, "report">;
  /** Work of `soon` and `deferred` waits for `turn`; if absent, it runs in turns of the real event loop, as sockets do. */
  readonly holdsTurns?: boolean;
  /** The clock moves by so much whenever it is looked at: work is counted by its looks. */
  readonly msPerLook?: number;
};

/** `Timers` on a clock that moves only when a test advances it. */
export class ManualTimers implements Timers {
  readonly #failures: Pick<Failures, "report">;
  readonly #holdsTurns: boolean;
  readonly #msPerLook: number;
  readonly #errors: unknown[] = [];
  readonly #listeners = new Set<() => void>();
  #now = 1000;
  /** In the order in which they were set. */
  #entries: Entry[] = [];
  #soon: { readonly where: string; readonly work: () => unknown }[] = [];

  constructor({ failures, holdsTurns = false, msPerLook = 0 }: Options = {}) {
    this.#failures = failures ?? {
      report: (_where, error) => {
        this.#errors.push(error);
        return "internal";
      },
    };
    this.#holdsTurns = holdsTurns;
    this.#msPerLook = msPerLook;
  }

  now(): number {
    this.#now += this.#msPerLook;
    return this.#now;
  }

  after(ms: number, where: string, work: () => unknown, options?: TimerOptions): Timer {
    return this.#set({ where, work, at: this.#now + ms, everyMs: undefined, keepsAlive: options?.keepsAlive === true });
  }

  every(ms: number, where: string, work: () => unknown, options?: TimerOptions): Timer {
    return this.#set({ where, work, at: this.#now + ms, everyMs: ms, keepsAlive: options?.keepsAlive === true });
  }

  soon(where: string, work: () => unknown): Timer {
    const entry = { where, work };
    this.#soon.push(entry);
    if (!this.#holdsTurns) globalThis.setImmediate(() => this.#runSoon(entry));
    return { cancel: () => void this.#takeSoon(entry) };
  }

  deferred(where: string, work: () => unknown): () => void {
    return () => void this.soon(where, work);
  }

  sleep(ms: number, options?: SleepOptions): Promise<void> {
    return sleepWith(this, ms, options);
  }

  /** What waits, the next first. */
  get waiting(): readonly WaitingTimer[] {
    return [...this.#entries]
      .sort((a, b) => a.at - b.at)
      .map(({ where, at, everyMs, keepsAlive }) => ({ where, inMs: at - this.#now, everyMs, keepsAlive }));
  }

  /** What runs in the next turn, in order. */
  get nextTurn(): readonly string[] {
    return this.#soon.map(({ where }) => where);
  }

  /** Resolves as soon as `count` timers of that name wait, with the one that fires next. */
  async scheduled(where: string, count = 1): Promise<WaitingTimer> {
    for (;;) {
      const found = this.waiting.filter((each) => each.where === where);
      if (found.length >= count) return found[0]!;
      await new Promise<void>((resolve) => this.#listeners.add(resolve));
    }
  }

  /**
   * Moves the clock by `ms` and runs what becomes due, in order, each at its time. A turn of the real event loop after each lets promises settle.
   * @throws the first failure of work, unless `failures` takes them
   */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.#settle();
    for (let due = this.#nextUntil(end); due !== undefined; due = this.#nextUntil(end)) {
      this.#now = Math.max(this.#now, due.at);
      this.#fire(due);
      await this.#settle();
    }
    this.#now = end;
    this.check();
  }

  /** As `advance`, for tests without promises: nothing settles in between. */
  advanceSync(ms: number): void {
    const end = this.#now + ms;
    for (let due = this.#nextUntil(end); due !== undefined; due = this.#nextUntil(end)) {
      this.#now = Math.max(this.#now, due.at);
      this.#fire(due);
    }
    this.#now = end;
    this.check();
  }

  /** Moves the clock and runs nothing: timers that are late. */
  jump(ms: number): void {
    this.#now += ms;
  }

  /** With `holdsTurns`: runs the work that waits for the next turn, but not work that this adds. @returns how much ran */
  turn(): number {
    const work = [...this.#soon];
    for (const each of work) this.#runSoon(each);
    this.check();
    return work.length;
  }

  /** @throws the first failure of work that no test has seen yet */
  check(): void {
    if (this.#errors.length > 0) throw this.#errors.shift();
  }

  #set(entry: Entry): Timer {
    this.#entries.push(entry);
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
    return { cancel: () => this.#remove(entry) };
  }

  #remove(entry: Entry): void {
    this.#entries = this.#entries.filter((each) => each !== entry);
  }

  #nextUntil(end: number): Entry | undefined {
    let next: Entry | undefined;
    for (const each of this.#entries) {
      if (each.at <= end && (next === undefined || each.at < next.at)) next = each;
    }
    return next;
  }

  #fire(entry: Entry): void {
    this.#remove(entry);
    if (entry.everyMs !== undefined) {
      // As Node's intervals: a late one is not made up for, and none runs twice at one time.
      entry.at = this.#now + Math.max(1, entry.everyMs);
      this.#entries.push(entry);
    }
    runGuarded(this.#failures, entry.where, entry.work);
  }

  #takeSoon(entry: Entry | { readonly where: string; readonly work: () => unknown }): boolean {
    const before = this.#soon.length;
    this.#soon = this.#soon.filter((each) => each !== entry);
    return this.#soon.length < before;
  }

  #runSoon(entry: { readonly where: string; readonly work: () => unknown }): void {
    if (this.#takeSoon(entry)) runGuarded(this.#failures, entry.where, entry.work);
  }

  async #settle(): Promise<void> {
    await setImmediate();
  }
}
