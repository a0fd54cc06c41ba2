/** What the server tells whoever counts and logs. Called on the hot path: implementations must be quick and never throw. */
export interface RpcObserver {
  /** A call or notification ended. `method` is "unknown" for names that are none of ours, `errorCode` 0 for a result. */
  callEnded(method: string, errorCode: number, milliseconds: number): void;
  /** A handler threw something that is no rejection. */
  crashed(method: string, error: unknown): void;
  /** A request, connection or message was turned away before any call; `reason` is one of a fixed few words. */
  refused(transport: string, reason: string): void;
  /** Open connections of a transport changed. */
  connections(transport: string, count: number): void;
  /** How many calls wait for their turn changed. */
  waiting(count: number): void;
}

/** Counts and logs nothing. */
export const SILENT_OBSERVER: RpcObserver = {
  callEnded() {},
  crashed() {},
  refused() {},
  connections() {},
  waiting() {},
};
