import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { type Rejection, rejectionBody } from "./rejection.ts";

/** How long, and how far, a rejected request or message may go on before its connection is closed. */
export const LINGER_MS = 500;
export const LINGER_BYTES = 1024 * 1024;

/**
 * Answers a request that is not run: with JSON, because some clients read nothing else. The connection is closed after it.
 * @param isHeld the client waits for 100-continue before it sends its body
 */
export function sendRejection(
  request: IncomingMessage,
  response: ServerResponse,
  { status, message, headers }: Rejection,
  isHeld: boolean,
  timers: Pick<Timers, "after">,
): void {
  const body = rejectionBody(status, message);
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    connection: "close",
  });
  if (isHeld || request.complete) {
    response.end(body);
    return;
  }
  // A connection closed over unread bytes is reset, and the answer is lost with it before its client has read it.
  response.write(body);
  const end = () => response.end();
  const timer = timers.after(LINGER_MS, "rejected request", end);
  response.once("close", () => timer.cancel());
  let size = 0;
  request.on("end", end).on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > LINGER_BYTES) end();
  });
}

/** What node:http finds wrong with a connection, by the `code` of its error. */
const CLIENT_FAULTS: Readonly<Record<string, Pick<Rejection, "status" | "reason">>> = {
  HPE_HEADER_OVERFLOW: { status: 431, reason: "headers" },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, reason: "body" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, reason: "timeout" },
};
const MALFORMED = { status: 400, reason: "malformed" };

/** Status and counter label for an error of node:http's parser. */
export function clientFault({ code }: NodeJS.ErrnoException): Pick<Rejection, "status" | "reason"> {
  return CLIENT_FAULTS[code ?? ""] ?? MALFORMED;
}

/** Closes a connection after its last write. A client that does not read would hold it for ever, although no counter has it. */
export function endSoon(socket: Duplex, timers: Pick<Timers, "after">): void {
  (socket as Socket).destroySoon();
  if (socket.destroyed) return;
  const timer = timers.after(LINGER_MS, "end of a connection", () => socket.destroy());
  socket.once("close", () => timer.cancel());
}

/** Writes an answer without a body to a connection on which no request can follow, and closes it. */
export function endWithStatus(socket: Duplex, status: number, timers: Pick<Timers, "after">): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
  socket.write(`${head}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  endSoon(socket, timers);
}

/** Answers on a connection that node:http does not serve (any more), and closes it. */
export function endWithRejection(
  socket: Duplex,
  { status, message, headers }: Rejection,
  timers: Pick<Timers, "after">,
): void {
  socket.on("error", () => socket.destroy());
  // Its end may have been written already: the node stops, or a parser error came first.
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = rejectionBody(status, message);
  socket.write(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "connection: close",
      ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
      "content-type: application/json",
      `content-length: ${Buffer.byteLength(body)}`,
      "",
      body,
    ].join("\r\n"),
  );
  endSoon(socket, timers);
}
