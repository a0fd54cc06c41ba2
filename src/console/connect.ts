import { connectHttp } from "./http-connection.ts";
import type { RpcConnection } from "./rpc-connection.ts";
import { connectIpc, connectWebSocket } from "./socket-connection.ts";

/**
 * Opens a connection to a node.
 * @param target `http(s)://…`, `ws(s)://…`, or the path of an IPC socket
 * @param token bearer token for private methods
 * @throws ConnectionFailedError
 */
export async function connect(target: string, token: string | undefined): Promise<RpcConnection> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  if (/^https?:/i.test(target)) return connectHttp(target, headers);
  if (/^wss?:/i.test(target)) return await connectWebSocket(target, headers);
  return await connectIpc(target);
}
