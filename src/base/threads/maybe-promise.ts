/** What a port answers: at once where the chain is in this thread, later where it is not. */
export type MaybePromise<T> = T | Promise<T>;

/** `next` of `value`, in this turn when `value` is there already: no microtask on the direct path. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
