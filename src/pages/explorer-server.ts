import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { DEFAULT_RPC_LIMITS } from "../rpc/server/limits.ts";
import { DEFAULT_ALLOWED_HOSTS, isHostAllowed, isOriginAllowed } from "../rpc/server/origin.ts";
import { createPageServer } from "./answer-page.ts";
import type { PageTable } from "./page-table.ts";

export type ExplorerServerOptions = {
  /** JSON-RPC over HTTP, of the node to look at */
  readonly rpcUrl: string;
  readonly host: string;
  /** 0: any free one */
  readonly port: number;
  readonly pages: PageTable;
  /** Gets what reading a page, or the node, failed with. */
  readonly onError: (error: unknown) => void;
};

export type ExplorerServer = { readonly url: string; close(): Promise<void> };

/** A trace of a large transaction takes this long; the page shows what came of it. */
const CALL_TIMEOUT_MS = 60_000;

/**
 * Serves the explorer beside any node: the pages, and at `/` the node's JSON-RPC, so that a page calls its own origin alone.
 * Requests of other web pages are rejected, as the node's own listener does.
 */
export async function startExplorerServer(options: ExplorerServerOptions): Promise<ExplorerServer> {
  const { host, port, pages, onError } = options;
  const answerPage = createPageServer(pages, onError);
  const server = createServer((request, response) => {
    const { headers, method, url } = request;
    if (
      !isHostAllowed(headers.host, DEFAULT_ALLOWED_HOSTS) ||
      !isOriginAllowed(headers.origin, headers.host, [])
    ) {
      end(response, 403);
    } else if (answerPage(request, response)) {
      return;
    } else if (method === "POST" && url === "/") {
      forward(request, response, options).catch((error) => {
        onError(error);
        end(response, 502);
      });
    } else if (method === "GET" && url === "/") {
      response.writeHead(307, { location: "/explorer/", "content-length": 0 }).end();
    } else end(response, 404);
  });
  server.requestTimeout = DEFAULT_RPC_LIMITS.messageTimeoutMs;
  server.maxConnections = DEFAULT_RPC_LIMITS.httpConnectionsMax;
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${address.port}/explorer/`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** @throws what fetch throws where the node cannot be reached or does not answer in time */
async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { rpcUrl }: ExplorerServerOptions,
): Promise<void> {
  const body = await readBody(request);
  if (body === undefined) {
    end(response, 413);
    return;
  }
  const answer = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  response.writeHead(answer.status, {
    "content-type": "application/json",
    "content-length": bytes.length,
  });
  response.end(bytes);
}

/** undefined: longer than a node takes. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > DEFAULT_RPC_LIMITS.bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function end(response: ServerResponse, status: number): void {
  if (!response.headersSent) response.writeHead(status, { "content-length": 0 });
  response.end();
}
