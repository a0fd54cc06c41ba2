import { RpcResponseError } from "./errors.ts";

/** A JSON-RPC client. */
export type RpcConnection = {
  /** URL or path of the node. */
  readonly target: string;
  /** The result. @throws RpcResponseError, ConnectionFailedError */
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  /**
   * `eth_subscribe`: hands `listener` each event until the returned function is called.
   * @throws as request; ConnectionFailedError where the transport has no notifications
   */
  subscribe(
    params: readonly unknown[],
    listener: (event: unknown) => void,
  ): Promise<() => Promise<unknown>>;
  close(): void;
};

/** One response of a JSON-RPC server. */
export type RpcResponse = {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
};

/** The result of a response. @throws RpcResponseError */
export function resultOf(response: RpcResponse): unknown {
  if (response.error !== undefined) throw new RpcResponseError(response.error);
  return response.result;
}
