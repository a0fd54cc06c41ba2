/** Timers of the process that runs, on the clock of its machine. */
import { currentProcess } from "../kernel/current.ts";
import type { QueuedEvent } from "../kernel/event-queue.ts";
import type { SimulatedProcess } from "../kernel/process.ts";

/** As Node has it: a delay of less than a millisecond is one. */
const DELAY_MS_MIN = 1;

class Timer {
  readonly #process: SimulatedProcess = currentProcess();
  readonly #work: () => void;
  readonly #delay: number;
  readonly #repeats: boolean;
  #event: QueuedEvent | undefined;

  constructor(work: () => void, delay: number, repeats: boolean) {
    this.#work = work;
    this.#delay = delay;
    this.#repeats = repeats;
    this.refresh();
  }

  ref = () => this;
  unref = () => this;
  hasRef = () => true;

  close(): this {
    if (this.#event) this.#event.isCancelled = true;
    this.#event = undefined;
    return this;
  }

  refresh(): this {
    this.close();
    const delay = this.#process.machine.clock.trueSpan(this.#delay);
    this.#event = this.#process.after(delay, () => {
      if (this.#repeats) this.refresh();
      else this.#event = undefined;
      this.#work();
    });
    return this;
  }

  [Symbol.toPrimitive]() {
    return 1;
  }

  [Symbol.dispose]() {
    this.close();
  }
}

type Callback = (...args: never[]) => void;

const milliseconds = (delay: unknown) => Math.max(DELAY_MS_MIN, Math.trunc(Number(delay)) || 0);

export function setTimeout(work: Callback, delay?: number, ...args: never[]): Timer {
  return new Timer(() => work(...args), milliseconds(delay), false);
}

export function setInterval(work: Callback, delay?: number, ...args: never[]): Timer {
  return new Timer(() => work(...args), milliseconds(delay), true);
}

export function setImmediate(work: Callback, ...args: never[]): Timer {
  return new Timer(() => work(...args), 0, false);
}

export function clearTimeout(timer: unknown): void {
  if (timer instanceof Timer) timer.close();
}

export const clearInterval = clearTimeout;
export const clearImmediate = clearTimeout;
