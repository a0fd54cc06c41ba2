import { ConnectionFailedError } from "./errors.ts";
import { type RpcConnection, type RpcResponse, resultOf } from "./rpc-connection.ts";

/** JSON-RPC over HTTP; there are no notifications. */
export function connectHttp(url: string, headers: Record<string, string>): RpcConnection {
  let lastId = 0;
  return {
    target: url,
    async request(method, params) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: ++lastId, method, params });
      const init = {
        method: "POST",
        body,
        headers: { "content-type": "application/json", ...headers },
      };
      const response = await fetch(url, init).catch((cause) => {
        throw new ConnectionFailedError(`no node answers at ${url}`, { url }, { cause });
      });
      const text = await response.text();
      try {
        return resultOf(JSON.parse(text) as RpcResponse);
      } catch (cause) {
        if (!(cause instanceof SyntaxError)) throw cause;
        throw new ConnectionFailedError(
          `${url} answers with HTTP status ${response.status} and no JSON`,
          { url, status: response.status },
          { cause },
        );
      }
    },
    async subscribe() {
      throw new ConnectionFailedError("HTTP has no events: attach over WebSocket or IPC");
    },
    close() {},
  };
}
