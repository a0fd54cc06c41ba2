import type { Timers } from "../../../base/telemetry/timers.ts";
import { beginWait } from "../../../base/threads/waits.ts";
import { RequestTimeoutError, TooManyError } from "../errors.ts";

/** Heavy work of this long is followed by one round of everything else: timers, blocks, other requests. */
const SLICE_MS = 2;

/** A call that is expected to take this long is worth that answers leave before it, each with a wake-up of its client; most take a tenth of it. */
const LONG_MS = 0.25;
/** How long a call is shows at its end, so each is expected to take what some before it took on average: one that met a collection of garbage is no sign. */
const AVERAGED_CALLS = 16;

/** Calls of one caller that may be under way in other threads: as many as a machine of four cores runs at once. */
const CALLER_RUNNING_MAX = 4;

/** What is about to run. */
export type ComingWork = {
  /** Now, in milliseconds of `Timers.now`. */
  readonly nowMs: number;
  readonly isLong: boolean;
};

type CallQueueOptions = {
  /** Calls of all callers that may wait. */
  readonly waitingMax: number;
  /** Called whenever the number of waiting calls changes. */
  readonly onWaiting: (count: number) => void;
  /** Called before each call runs. */
  readonly beforeWork?: (work: ComingWork) => void;
};

/** The caller of a call. */
export type CallOwner = {
  /** Calls of one connection share a queue; a call without a connection has its own. */
  readonly connection: object | undefined;
  /** The caller no longer waits for the answer. */
  readonly isAborted: boolean;
  /** Those of higher priority have their turn first; absent counts as 0. */
  readonly priority?: number | undefined;
};

/**
 * Lets calls that run a caller's code share this thread with everything else. A call runs at once while the previous ones took
 * little time; then it waits until timers and sockets had their turn. Waiting calls run in turn by caller, so a caller with
 * a thousand calls delays another caller's by one. Each caller has a few calls at a time in other threads.
 */
export class CallQueue {
  readonly #options: CallQueueOptions;
  readonly #timers: Pick<Timers, "now">;
  readonly #turnSoon: () => void;
  /** Callers with something waiting that may run, the next one first. */
  readonly #lanes = new Map<object, (() => void)[]>();
  /** Callers with something waiting until one of their calls elsewhere ends. */
  readonly #blocked = new Map<object, (() => void)[]>();
  /** Calls that have not ended when `work` returned, by caller. */
  readonly #running = new Map<object, number>();
  /** Of callers with something waiting that have one. */
  readonly #priorities = new Map<object, number>();
  #waiting = 0;
  #spentMs = 0;
  #expectedMs = 0;
  #isTurnScheduled = false;

  constructor(options: CallQueueOptions, timers: Pick<Timers, "now" | "deferred">) {
    this.#options = options;
    this.#timers = timers;
    this.#turnSoon = timers.deferred("queue of calls", () => this.#turn());
  }

  /**
   * The result of `work`: at once, or after it has had its turn.
   * @throws TooManyError; RequestTimeoutError when the caller was gone before its turn
   */
  run<T>(owner: CallOwner, work: () => T | Promise<T>): T | Promise<T> {
    const caller = owner.connection ?? owner;
    const isBlocked = this.#isBlocked(caller);
    if (!this.#isTurnScheduled && !isBlocked) return this.#timed(caller, work);
    if (this.#waiting >= this.#options.waitingMax) {
      throw new TooManyError("too many calls are waiting, try again later");
    }
    return new Promise<T>((resolve, reject) => {
      const ended = beginWait("queue of calls");
      const task = () => {
        ended?.();
        try {
          if (owner.isAborted) throw new RequestTimeoutError();
          resolve(this.#timed(caller, work));
        } catch (error) {
          reject(error);
        }
      };
      if (owner.priority !== undefined) this.#priorities.set(caller, owner.priority);
      const lane = this.#lanes.get(caller) ?? this.#blocked.get(caller);
      if (lane) lane.push(task);
      else if (isBlocked) this.#blocked.set(caller, [task]);
      else this.#lanes.set(caller, [task]);
      this.#count(1);
    });
  }

  #timed<T>(caller: object, work: () => T | Promise<T>): T | Promise<T> {
    const start = this.#timers.now();
    this.#options.beforeWork?.({ nowMs: start, isLong: this.#expectedMs >= LONG_MS });
    try {
      const result = work();
      if (result instanceof Promise) {
        // What it does on this thread after its first pause cannot be seen from here.
        this.#spentMs = SLICE_MS;
        this.#track(caller, result);
      }
      return result;
    } finally {
      const elapsed = this.#timers.now() - start;
      this.#expectedMs += (elapsed - this.#expectedMs) / AVERAGED_CALLS;
      this.#spentMs += elapsed;
      if (this.#spentMs >= SLICE_MS) this.#scheduleTurn();
    }
  }

  #track(caller: object, result: Promise<unknown>): void {
    this.#running.set(caller, (this.#running.get(caller) ?? 0) + 1);
    const end = () => {
      const left = this.#running.get(caller)! - 1;
      if (left > 0) this.#running.set(caller, left);
      else this.#running.delete(caller);
      const lane = this.#blocked.get(caller);
      if (lane === undefined) return;
      this.#blocked.delete(caller);
      this.#lanes.set(caller, lane);
      this.#scheduleTurn();
    };
    result.then(end, end);
  }

  #isBlocked(caller: object): boolean {
    return (this.#running.get(caller) ?? 0) >= CALLER_RUNNING_MAX;
  }

  #scheduleTurn(): void {
    if (this.#isTurnScheduled) return;
    this.#isTurnScheduled = true;
    this.#turnSoon();
  }

  #turn(): void {
    this.#isTurnScheduled = false;
    this.#spentMs = 0;
    while (this.#lanes.size > 0 && !this.#isTurnScheduled) {
      const caller = this.#nextCaller();
      const tasks = this.#lanes.get(caller)!;
      this.#lanes.delete(caller);
      if (this.#isBlocked(caller)) {
        this.#blocked.set(caller, tasks);
        continue;
      }
      const task = tasks.shift()!;
      // After all others.
      if (tasks.length > 0) this.#lanes.set(caller, tasks);
      else this.#priorities.delete(caller);
      this.#count(-1);
      task();
    }
  }

  /** The first of those with the highest priority. */
  #nextCaller(): object {
    let next: object | undefined;
    let highest = Number.NEGATIVE_INFINITY;
    for (const caller of this.#lanes.keys()) {
      const priority = this.#priorities.get(caller) ?? 0;
      if (next !== undefined && priority <= highest) continue;
      next = caller;
      highest = priority;
      if (this.#priorities.size === 0) break;
    }
    return next!;
  }

  #count(change: number): void {
    this.#waiting += change;
    this.#options.onWaiting(this.#waiting);
  }
}
