/**
 * Whether anyone still waits for an answer. It never crosses a thread: a remote port sends the number of the request it aborts.
 * `isAborted` is for polling; `signal` costs an AbortController, so only a port that cannot poll asks for it.
 */
export interface CancelToken {
  readonly isAborted: boolean;
  readonly signal: AbortSignal;
}
