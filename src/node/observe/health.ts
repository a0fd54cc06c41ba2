import type { IncomingMessage, ServerResponse } from "node:http";
import { andThen, type MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { Readiness } from "../../rpc/ports/node.ts";

/**
 * Answers `/livez` (the process runs) and `/readyz` (it serves its chain and makes blocks; otherwise 503) for the RPC and the metrics listener.
 * False for other requests.
 */
export function answerHealth(
  request: IncomingMessage,
  response: ServerResponse,
  readiness: () => MaybePromise<Readiness>,
): boolean {
  if (request.method !== "GET" && request.method !== "HEAD") return false;
  const path = request.url?.split("?", 1)[0];
  if (path === "/livez") sendText(request, response, 200, JSON_TYPE, '{"live":true}');
  else if (path === "/readyz") {
    void andThen(readiness(), (state) =>
      sendText(request, response, state.ready ? 200 : 503, JSON_TYPE, JSON.stringify(state)),
    );
  } else return false;
  return true;
}

export const JSON_TYPE = "application/json";

/** Sends a complete answer; only its headers for HEAD. */
export function sendText(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(request.method === "HEAD" ? undefined : body);
}
