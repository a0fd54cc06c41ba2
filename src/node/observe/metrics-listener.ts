import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { formatHostPort, type HostPort } from "../../config/value-types.ts";
import { andThen, type MaybePromise } from "../../rpc/ports/maybe-promise.ts";
import type { Readiness } from "../../rpc/ports/node.ts";
import { answerHealth, JSON_TYPE, sendText } from "./health.ts";

export type MetricsListener = { readonly url: string; close(): void };

/** Serves `/metrics` for Prometheus, `/livez` (the process answers) and `/readyz` (it serves its chain). */
export async function listenMetrics(
  address: HostPort,
  exposition: () => MaybePromise<string>,
  readiness: () => Readiness,
): Promise<MetricsListener> {
  const server: Server = createServer({ keepAliveTimeout: 5_000 }, (request, response) => {
    if (answerHealth(request, response, readiness)) return;
    if (request.method !== "GET" && request.method !== "HEAD") {
      sendText(request, response, 405, JSON_TYPE, '{"error":"method not allowed"}');
    } else if (request.url === "/metrics") {
      const type = "text/plain; version=0.0.4; charset=utf-8";
      void andThen(exposition(), (text) => sendText(request, response, 200, type, text));
    } else sendText(request, response, 404, JSON_TYPE, '{"error":"not found"}');
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(address.port, address.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${formatHostPort({ host: address.host, port })}/metrics`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
