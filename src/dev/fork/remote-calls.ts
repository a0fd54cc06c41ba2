/** One JSON-RPC call of the remote chain. */
export type RemoteCall = { readonly method: string; readonly params: readonly unknown[] };

/** Results of calls, in their order. @throws ForkRemoteError, ForkArchiveError, ForkAnswerError, ForkRevertError */
export type RemoteCalls = (calls: readonly RemoteCall[]) => Promise<readonly unknown[]>;

/** The same while the thread waits: state is synchronous. */
export type SyncRemoteCalls = (calls: readonly RemoteCall[]) => readonly unknown[];
