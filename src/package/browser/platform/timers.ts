type Task = () => void;

type Immediates = {
  setImmediate<Args extends unknown[]>(task: (...args: Args) => void, ...args: Args): object;
  clearImmediate(immediate: object | undefined): void;
};

/** Node, Deno and Bun have these functions; browsers do not. */
const { setImmediate, clearImmediate } =
  "setImmediate" in globalThis ? (globalThis as unknown as Immediates) : createImmediates();

export { clearImmediate, setImmediate };

/** Uses messages: a timer would wait for milliseconds, or for a second in a background tab. */
function createImmediates(): Immediates {
  const waiting: { task: Task | undefined }[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener("message", () => {
    const { task } = waiting.shift()!;
    task?.();
  });
  port1.start();
  return {
    setImmediate(task, ...args) {
      const immediate = {
        task: () => task(...args),
        // No page waits for its tasks.
        unref: () => immediate,
      };
      waiting.push(immediate);
      port2.postMessage(undefined);
      return immediate;
    },
    clearImmediate(immediate) {
      if (immediate !== undefined) (immediate as { task: Task | undefined }).task = undefined;
    },
  };
}

/** Timers as objects with Node's `unref` and `refresh`: in a browser no timer keeps a page open. */
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
