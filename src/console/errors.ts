import { NodeError } from "../errors.ts";

/** The node cannot be reached, or the connection to it ended. */
export class ConnectionFailedError extends NodeError {
  readonly code = "CONSOLE_CONNECTION";
}

/** The error object of a JSON-RPC response. */
export class RpcResponseError extends NodeError {
  readonly code = "CONSOLE_RPC";
  /** As in the response, for scripts that look at it. */
  readonly rpcCode: number;
  readonly data: unknown;
  constructor(error: { readonly code: number; readonly message: string; readonly data?: unknown }) {
    super(`${error.message} (${error.code})`, { rpcCode: error.code });
    this.rpcCode = error.code;
    this.data = error.data;
  }
}
