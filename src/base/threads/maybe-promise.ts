/** The answer of a port: immediate if the chain is in this thread, else a promise. */
export type MaybePromise<T> = T | Promise<T>;

/** `next` of `value`, in this turn if `value` is not a promise: the direct path needs no microtask. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
