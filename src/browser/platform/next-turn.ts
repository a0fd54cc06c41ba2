type Task = () => void;

type Immediates = {
  setImmediate<Args extends unknown[]>(task: (...args: Args) => void, ...args: Args): object;
  clearImmediate(immediate: object | undefined): void;
};

/** Node, Deno and Bun have these functions; browsers do not. */
const { setImmediate, clearImmediate } =
  "setImmediate" in globalThis ? (globalThis as unknown as Immediates) : createImmediates();

export { clearImmediate, setImmediate };

/** By messages: a timer would wait for milliseconds, in a tab in the background for a second. */
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
        // Nothing in a page waits for its tasks.
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
