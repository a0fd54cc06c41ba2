import { EventQueue } from "../../kernel/event-queue.ts";
import type { System } from "../world.ts";

/** Virtual time: tasks run in order of their time, and those of the same time in the order in which they were made. */
export class VirtualTime {
  #now: number;
  readonly #events = new EventQueue();

  /** @param start milliseconds since 1970 */
  constructor(start: number) {
    this.#now = start;
  }

  get now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const event = this.#events.add(this.#now + Math.max(0, ms), undefined, run);
    return () => {
      event.isCancelled = true;
    };
  }

  /** Runs tasks until `ms` from now have passed, or until `isDone`. @returns whether it is done */
  async run(ms: number, isDone: () => boolean = () => false): Promise<boolean> {
    const until = this.#now + ms;
    while (!isDone()) {
      const next = this.#events.next(until);
      if (next === undefined) {
        this.#now = until;
        return false;
      }
      this.#now = next.time;
      next.work();
      // What the task began with promises ends before the next one.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return true;
  }
}

/** Clock and timers of one process: none of its tasks runs once it has ended. */
export class ProcessTime implements Pick<System, "now" | "after"> {
  readonly #time: VirtualTime;
  isEnded = false;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  now(): number {
    return this.#time.now;
  }

  after(ms: number, task: () => void): () => void {
    return this.#time.after(ms, () => {
      if (!this.isEnded) task();
    });
  }
}
