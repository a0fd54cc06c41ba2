/**
 * Whether anyone still waits for an answer. It never crosses a thread: a remote port sends the number of the request it aborts. Code that can
 * poll uses `isAborted`; `signal` costs an AbortController, so only ports that cannot poll use it.
 */
export interface CancelToken {
  readonly isAborted: boolean;
  readonly signal: AbortSignal;
}
