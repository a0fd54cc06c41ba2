import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { RpcObserver } from "../dispatch/observer.ts";
import { type Refusal, refusalBody } from "./refusal.ts";

/** How long, and how far, a refused request may go on before its connection is closed. */
const LINGER_MS = 500;
const LINGER_BYTES = 1024 * 1024;

/** An answer without a call: JSON all the same, because some clients read nothing else. The connection is closed behind it. */
export function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  { status, message, headers }: Refusal,
  isHeld: boolean,
): void {
  const body = refusalBody(status, message);
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
  // A connection closed over unread bytes is reset, and with it goes the answer that its client has not read yet.
  response.write(body);
  const end = () => response.end();
  const timer = setTimeout(end, LINGER_MS);
  response.once("close", () => clearTimeout(timer));
  let size = 0;
  request.on("end", end).on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > LINGER_BYTES) end();
  });
}

/** What node:http finds wrong with a connection, by the `code` of its error. */
const CLIENT_FAULTS: Readonly<Record<string, Pick<Refusal, "status" | "reason">>> = {
  HPE_HEADER_OVERFLOW: { status: 431, reason: "headers" },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, reason: "body" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, reason: "timeout" },
};
const MALFORMED = { status: 400, reason: "malformed" };

/**
 * Ends a connection on which no request can follow any more.
 * @param answer the last one begun on it
 */
export function refuseSocket(
  error: NodeJS.ErrnoException,
  socket: Socket,
  answer: ServerResponse | undefined,
  observer: RpcObserver,
): void {
  if (socket.writable && error.code !== "ECONNRESET") {
    const { status, reason } = CLIENT_FAULTS[error.code ?? ""] ?? MALFORMED;
    observer.refused("http", reason);
    // In the middle of an answer there is no place for another.
    if (!answer?.headersSent || answer.writableFinished) {
      const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
      socket.write(`${head}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    }
  }
  socket.destroySoon();
}
