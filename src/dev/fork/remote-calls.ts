/** One JSON-RPC call of the remote chain. */
export type RemoteCall = { readonly method: string; readonly params: readonly unknown[] };

/** What `result` of `call` is worth, in its one spelling. @throws ForkRemoteError where it is not of its form */
export type ResultCheck = (call: RemoteCall, result: unknown) => unknown;

type CallOptions = {
  /** Of methods that `checkResult` does not know. */
  readonly check?: ResultCheck;
  /** The calls fail after this time, in ms. */
  readonly msMax?: number;
};

/**
 * Results of calls, in their order, each of the form of its method.
 * @throws ForkRemoteError, ForkArchiveError, ForkProofError, ForkAnswerError, ForkRevertError
 */
export type RemoteCalls = (
  calls: readonly RemoteCall[],
  options?: CallOptions,
) => Promise<readonly unknown[]>;

/** The same while the thread waits: state is synchronous. */
export type SyncRemoteCalls = (calls: readonly RemoteCall[]) => readonly unknown[];
