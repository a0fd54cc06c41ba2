import type { RemoteUrl } from "../telemetry/remote-url.ts";
import { ConnectionFailedError } from "./errors.ts";
import {
  parseMessage,
  RESPONSE_BYTES_MAX,
  type RpcConnection,
  resultOf,
} from "./rpc-connection.ts";

/** JSON-RPC over HTTP; there are no notifications. */
export function connectHttp({ url, headers, origin }: RemoteUrl): RpcConnection {
  let lastId = 0;
  return {
    target: origin,
    async request(method, params) {
      const response = await fetch(url, {
        method: "POST",
        body: JSON.stringify({ jsonrpc: "2.0", id: ++lastId, method, params }),
        headers: { "content-type": "application/json", ...headers },
        // The body of a call, which may hold a passphrase, goes to the node that was named.
        redirect: "error",
      }).catch((cause) => {
        throw new ConnectionFailedError(`no node answers at ${origin}`, { origin }, { cause });
      });
      return resultOf(parseMessage(await readText(response, origin), origin));
    },
    async subscribe() {
      throw new ConnectionFailedError("HTTP has no events: attach over WebSocket or IPC");
    },
    close() {},
  };
}

/** @throws ConnectionFailedError for more than a client takes, and where the connection breaks */
async function readText({ body }: Response, origin: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body ?? []) {
      length += chunk.length;
      if (length > RESPONSE_BYTES_MAX) throw new RangeError("the answer is too large");
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  } catch (cause) {
    throw new ConnectionFailedError(`the answer of ${origin} is not whole`, { origin }, { cause });
  }
}
