import { RequestTimeoutError, TooManyError } from "./errors.ts";

/** Heavy work of this long is followed by one round of everything else: timers, blocks, other requests. */
const SLICE_MS = 10;

export type CallQueueOptions = {
  /** Calls of all callers that may wait. */
  readonly waitingMax: number;
  /** Called whenever the number of waiting calls changes. */
  readonly onWaiting: (count: number) => void;
};

/** The caller of a call. */
export type CallOwner = {
  /** Calls of one connection wait in one queue; a call without a connection has a queue of its own. */
  readonly connection: object | undefined;
  /** Nobody waits for the answer any more. */
  readonly isAborted: boolean;
};

/**
 * Lets the calls that run a caller's code share this thread with all else. A call runs at once as long as those before it took
 * little time; then it waits until timers and sockets had their turn. Those that wait run in turn by caller, so that one who asks
 * for a thousand calls delays another's by one.
 */
export class CallQueue {
  readonly #options: CallQueueOptions;
  /** Callers with waiting calls, the next one first. */
  readonly #lanes = new Map<object, (() => void)[]>();
  #waiting = 0;
  #spentMs = 0;
  #isTurnScheduled = false;

  constructor(options: CallQueueOptions) {
    this.#options = options;
  }

  /**
   * The result of `work`: at once, or after it has had its turn.
   * @throws TooManyError; RequestTimeoutError when the caller was gone before its turn
   */
  run<T>(owner: CallOwner, work: () => T | Promise<T>): T | Promise<T> {
    if (!this.#isTurnScheduled) return this.#timed(work);
    const key = owner.connection ?? owner;
    const lane = this.#lanes.get(key);
    if (this.#waiting >= this.#options.waitingMax) {
      throw new TooManyError("too many calls are waiting, try again later");
    }
    return new Promise<T>((resolve, reject) => {
      const task = () => {
        try {
          if (owner.isAborted) throw new RequestTimeoutError();
          resolve(this.#timed(work));
        } catch (error) {
          reject(error);
        }
      };
      if (lane) lane.push(task);
      else this.#lanes.set(key, [task]);
      this.#count(1);
    });
  }

  #timed<T>(work: () => T | Promise<T>): T | Promise<T> {
    const start = performance.now();
    try {
      const result = work();
      // The time it takes after its first await cannot be measured here.
      if (result instanceof Promise) this.#spentMs = SLICE_MS;
      return result;
    } finally {
      this.#spentMs += performance.now() - start;
      if (this.#spentMs >= SLICE_MS) this.#scheduleTurn();
    }
  }

  #scheduleTurn(): void {
    if (this.#isTurnScheduled) return;
    this.#isTurnScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isTurnScheduled = false;
    this.#spentMs = 0;
    while (this.#waiting > 0 && !this.#isTurnScheduled) {
      const task = this.#next();
      this.#count(-1);
      task();
    }
  }

  /** Of the caller at the front, which then goes to the end. */
  #next(): () => void {
    const [lane, tasks] = this.#lanes.entries().next().value as [object, (() => void)[]];
    this.#lanes.delete(lane);
    const task = tasks.shift()!;
    if (tasks.length > 0) this.#lanes.set(lane, tasks);
    return task;
  }

  #count(change: number): void {
    this.#waiting += change;
    this.#options.onWaiting(this.#waiting);
  }
}
