import { parseRemoteUrl, type RemoteUrl } from "../telemetry/remote-url.ts";
import { ConnectionFailedError } from "./errors.ts";
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
  if (/^https?:/i.test(target)) return connectHttp(remoteOf(target, token));
  if (/^wss?:/i.test(target)) return await connectWebSocket(remoteOf(target, token));
  return await connectIpc(target);
}

/** @throws ConnectionFailedError */
function remoteOf(target: string, token: string | undefined): RemoteUrl {
  const remote = parseRemoteUrl(target, ["http", "https", "ws", "wss"]);
  if (remote === undefined) throw new ConnectionFailedError("the target is not a URL");
  if (token === undefined) return remote;
  return { ...remote, headers: { authorization: `Bearer ${token}` } };
}
