import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { formatHostPort, type HostPort } from "../config/value-types.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** The body of `/readyz`. */
export type Readiness = {
  readonly ready: boolean;
  readonly head: number;
  readonly reason?: string;
};

export type MetricsListener = { readonly url: string; close(): void };

/** Serves `/metrics` for Prometheus, `/livez` (the process answers) and `/readyz` (it serves its chain). */
export async function listenMetrics(
  address: HostPort,
  metrics: Metrics,
  readiness: () => Readiness,
): Promise<MetricsListener> {
  const server: Server = createServer({ keepAliveTimeout: 5_000 }, (request, response) => {
    const reply = (status: number, type: string, body: string): void => {
      response.writeHead(status, {
        "content-type": type,
        "content-length": Buffer.byteLength(body),
      });
      response.end(request.method === "HEAD" ? undefined : body);
    };
    if (request.method !== "GET" && request.method !== "HEAD") {
      reply(405, "application/json", '{"error":"method not allowed"}');
    } else if (request.url === "/metrics") {
      reply(200, "text/plain; version=0.0.4; charset=utf-8", metrics.exposition());
    } else if (request.url === "/livez") {
      reply(200, "application/json", '{"live":true}');
    } else if (request.url === "/readyz") {
      const state = readiness();
      reply(state.ready ? 200 : 503, "application/json", JSON.stringify(state));
    } else {
      reply(404, "application/json", '{"error":"not found"}');
    }
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
