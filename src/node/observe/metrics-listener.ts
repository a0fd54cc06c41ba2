import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Metrics } from "../../base/telemetry/metrics.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { Readiness } from "../../rpc/ports/node.ts";
import { FOREIGN_LOAD } from "../../rpc/transport/server/admission.ts";
import { resolveTarget } from "../../rpc/transport/server/incoming-request.ts";
import { isForeignLoad, isHostAllowed } from "../../rpc/transport/server/origin.ts";
import { formatHostPort, type HostPort } from "../config/value-types.ts";
import { answerHealth, JSON_TYPE, sendText } from "./health.ts";

export type MetricsListener = { readonly url: string; close(): void };

type MetricsListenerOptions = {
  readonly address: HostPort;
  /** Names besides IP literals, see `isHostAllowed`: a page whose name resolves to this machine must not read the metrics. */
  readonly allowedHosts: readonly string[];
  readonly exposition: () => MaybePromise<string>;
  readonly readiness: () => Readiness;
};

export function declareCertificateMetrics(metrics: Pick<Metrics, "gaugeOf">, tls: { readonly expiry: number }): void {
  metrics.gaugeOf(
    {
      name: "tls_certificate_expiry_timestamp_seconds",
      help: "Expiry of the certificate in tls.cert, in Unix seconds.",
    },
    () => tls.expiry,
  );
}

/** One node has few scrapers and probes. */
const CONNECTIONS_MAX = 64;

/** Timeouts of an idle connection and of a request, which has no body. */
const TIMEOUTS = { keepAliveTimeout: 5_000, headersTimeout: 10_000, requestTimeout: 10_000 };

/** Serves `/metrics` for Prometheus, `/livez` (the process answers) and `/readyz` (it serves its chain). */
export async function listenMetrics(options: MetricsListenerOptions): Promise<MetricsListener> {
  const { address, allowedHosts, exposition, readiness } = options;
  async function sendMetrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const type = "text/plain; version=0.0.4; charset=utf-8";
      sendText(request, response, 200, type, await exposition());
    } catch {
      // An RPC process that dies during the request has no numbers; the next scrape omits it.
      sendText(request, response, 503, JSON_TYPE, '{"error":"not available"}');
    }
  }
  /** Connections without a request, the oldest first. */
  const idle = new Set<Socket>();
  let connections = 0;
  const server: Server = createServer(TIMEOUTS, (request, response) => {
    const { socket } = request;
    idle.delete(socket);
    response.once("close", () => !socket.destroyed && idle.add(socket));
    resolveTarget(request);
    if (!isHostAllowed(request.headers.host, allowedHosts)) {
      const text = '{"error":"invalid host specified (json-rpc.vhosts)"}';
      sendText(request, response, 403, JSON_TYPE, text);
      return;
    }
    if (isForeignLoad(request.headers)) {
      sendText(request, response, 403, JSON_TYPE, JSON.stringify({ error: FOREIGN_LOAD.message }));
      return;
    }
    if (answerHealth(request, response, readiness)) return;
    if (request.method !== "GET" && request.method !== "HEAD") {
      sendText(request, response, 405, JSON_TYPE, '{"error":"method not allowed"}');
    } else if (request.url === "/metrics") {
      void sendMetrics(request, response);
    } else sendText(request, response, 404, JSON_TYPE, '{"error":"not found"}');
  });
  // Also ends clients that do not read.
  server.timeout = TIMEOUTS.requestTimeout;
  server.on("connection", (socket) => {
    // A silent connection never keeps out a scraper, which sends its request at once.
    connections++;
    idle.add(socket);
    // Destroyed connections count until they close, but are no longer idle.
    const [oldest = socket] = idle;
    if (connections > CONNECTIONS_MAX) {
      idle.delete(oldest);
      oldest.destroy();
    }
    socket.once("close", () => {
      connections--;
      idle.delete(socket);
    });
  });
  await new Promise<void>((resolve, reject) => {
    // Names the setting, since the address is neither --port's nor the API's.
    server.once("error", (error) => reject(Object.assign(error, { setting: "metrics.address" })));
    server.listen(address.port, address.host, () => {
      server.removeAllListeners("error");
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
