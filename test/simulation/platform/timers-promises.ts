/** `node:timers/promises` on virtual time. */
import * as timers from "./timers.ts";

type Options = { readonly ref?: boolean; readonly signal?: AbortSignal };

function wait<T>(start: (work: () => void) => unknown, value: T, { signal }: Options = {}): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(aborted(signal));
    const onAbort = () => {
      timers.clearTimeout(timer);
      reject(aborted(signal!));
    };
    const timer = start(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve(value);
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

function aborted(signal: AbortSignal): Error {
  const error = new Error("The operation was aborted", { cause: signal.reason });
  return Object.assign(error, { name: "AbortError", code: "ABORT_ERR" });
}

export function setTimeout<T>(delay?: number, value?: T, options?: Options) {
  return wait((work) => timers.setTimeout(work, delay), value, options);
}

export function setImmediate<T>(value?: T, options?: Options) {
  return wait((work) => timers.setImmediate(work), value, options);
}

export const scheduler = { wait: (delay: number) => setTimeout(delay), yield: () => setImmediate() };
