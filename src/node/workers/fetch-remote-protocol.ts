import type { MessagePort } from "node:worker_threads";
import type { RemoteCall } from "../../dev/fork/remote-calls.ts";
import type { ErrorData } from "../../rpc/ports/channel/protocol.ts";
import type { Header } from "../../types/header.ts";

/** Indexes of `FetchRemoteData.signal`. */
export const FETCH_SIGNAL = {
  /** Is another number after each reply. */
  replies: 0,
  /** Is another number after each BEAT_MS in which the thread was alive. */
  beats: 1,
} as const;
export const BEAT_MS = 100;

/** What the thread is started with. */
export type FetchRemoteData = {
  readonly urls: readonly string[];
  /** The forked block, and whether its state is proven under its root. */
  readonly block: { readonly chainId: bigint; readonly header: Header };
  readonly isVerified: boolean;
  readonly port: MessagePort;
  readonly signal: Int32Array;
};

/** `id` is that of the request. */
export type FetchReply = { readonly id: number } & (
  | { readonly results: readonly unknown[] }
  | { readonly error: ErrorData }
);

/** Calls to make within `msMax`, which are answered, or other nodes to ask from now on. */
export type FetchRequest =
  | { readonly id: number; readonly calls: readonly RemoteCall[]; readonly msMax: number }
  | { readonly urls: readonly string[] };
