/** Timers as objects with Node's `unref` and `refresh`: in a browser no timer holds a page open. */
class Timer {
  readonly #start: () => number;
  readonly #clear: (id: number) => void;
  #id: number;

  constructor(start: () => number, clear: (id: number) => void) {
    this.#start = start;
    this.#clear = clear;
    this.#id = start();
  }

  ref(): this {
    (this.#id as { ref?: () => void }).ref?.();
    return this;
  }

  /** Under Node, where tests run the same bundle, the timer is one of Node's. */
  unref(): this {
    (this.#id as { unref?: () => void }).unref?.();
    return this;
  }

  refresh(): this {
    this.clear();
    this.#id = this.#start();
    return this;
  }

  clear(): void {
    this.#clear(this.#id);
  }
}

type WebTimers = {
  setTimeout(task: () => void, milliseconds?: number): number;
  setInterval(task: () => void, milliseconds?: number): number;
  clearTimeout(id: number): void;
  clearInterval(id: number): void;
};
const web = globalThis as unknown as WebTimers;

export function setTimeout<Args extends unknown[]>(
  task: (...args: Args) => void,
  milliseconds?: number,
  ...args: Args
): Timer {
  return new Timer(() => web.setTimeout(() => task(...args), milliseconds), web.clearTimeout);
}

export function setInterval<Args extends unknown[]>(
  task: (...args: Args) => void,
  milliseconds?: number,
  ...args: Args
): Timer {
  return new Timer(() => web.setInterval(() => task(...args), milliseconds), web.clearInterval);
}

export function clearTimeout(timer: Timer | undefined): void {
  timer?.clear();
}

export const clearInterval = clearTimeout;
