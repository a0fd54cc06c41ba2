import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { fatalTimers } from "../../../src/base/telemetry/fatal-timers.ts";

/** Limits of a server whose timers are the machine's: node:http has its own. */
export const SHORT_LIMITS = {
  httpHeadersTimeoutMs: 500,
  messageTimeoutMs: 500,
  httpIdleTimeoutMs: 500,
  httpReplyTimeoutMs: 500,
  wsPingIntervalMs: 500,
  socketCallsMax: 4,
};
const DRIP_MS = 20;

export const call = (method: string, ...params: unknown[]) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
export const post = (body: string) =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const upgrade = (host: string) =>
  `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
/** A text frame with a mask of zeros. */
export const frame = (text: string, isWhole = true) => {
  const head = Buffer.from([0x81, 0xfe, text.length >> 8, text.length & 255, 0, 0, 0, 0]);
  return Buffer.concat([head, Buffer.from(isWhole ? text : text.slice(0, -1))]);
};

/** What a client does before it falls silent. */
export type Stage = (socket: Socket) => void | Promise<void>;

function drip(socket: Socket, bytes: Buffer): void {
  let at = 0;
  const dripping = fatalTimers.every(DRIP_MS, "drip", () => socket.write(bytes.subarray(at, ++at)));
  socket.once("close", () => dripping.cancel());
}

export async function openWebSocket(socket: Socket): Promise<void> {
  socket.write(upgrade("localhost"));
  await nextOrClose(socket, "data");
}

/** On a machine that is busy the server may have lost its patience first. */
function nextOrClose(socket: Socket, event: string): Promise<void> {
  return new Promise((resolve) => socket.once(event, () => resolve()).once("close", () => resolve()));
}

/** Before TLS, where it is spoken. */
export const BEFORE_TLS: Readonly<Record<string, (socket: Socket, hello: Buffer) => void>> = {
  "nothing at all": () => {},
  "half a ClientHello": (socket, hello) => void socket.write(hello.subarray(0, hello.length / 2)),
  "a ClientHello and nothing more": (socket, hello) => void socket.write(hello),
  // A record of 16 KB: it would take minutes.
  "a ClientHello byte by byte": (socket) =>
    drip(socket, Buffer.from(`1603013fff01003ffb0303${"00".repeat(16_000)}`, "hex")),
};

export const STAGES: Readonly<Record<string, Stage>> = {
  "no request": () => {},
  "half a head": (socket) => void socket.write(post("{}").slice(0, 30)),
  "a head byte by byte": (socket) => drip(socket, Buffer.from(`GET / HTTP/1.1\r\nx: ${"y".repeat(10_000)}`)),
  "half a body": (socket) => void socket.write(post(call("test_echo", "hello")).slice(0, -5)),
  "a call and nothing more": (socket) => void socket.write(post(call("test_echo", "hello"))),
  "no HTTP": (socket) => void socket.write("hello\r\n\r\n"),
  "half a WebSocket handshake": (socket) => void socket.write(upgrade("localhost").slice(0, 60)),
  "a WebSocket handshake that is rejected": (socket) => void socket.write(upgrade("evil.example")),
  "a WebSocket that answers no ping": openWebSocket,
  "half a message of WebSocket": async (socket) => {
    await openWebSocket(socket);
    socket.write(frame(call("test_echo", "hello"), false));
  },
  "a WebSocket that does not answer the close frame": async (socket) => {
    await openWebSocket(socket);
    socket.write(frame("{"));
  },
};

/** What a client of TLS sends first. */
export async function clientHello(): Promise<Buffer> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connectTls({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
  client.on("error", () => {});
  const [socket] = (await once(server, "connection")) as [Socket];
  const [hello] = (await once(socket, "data")) as [Buffer];
  client.destroy();
  server.close();
  return hello;
}

/** Settles however the connection ends. */
export function closes(socket: Socket): Promise<void> {
  if (socket.closed) return Promise.resolve();
  return new Promise((resolve) => socket.resume().once("close", () => resolve()));
}

export async function opened(url: string, isTls: boolean): Promise<Socket> {
  const { hostname: host, port } = new URL(url);
  const socket = isTls
    ? connectTls({ host, port: Number(port), rejectUnauthorized: false })
    : connect(Number(port), host);
  socket.on("error", () => {});
  await nextOrClose(socket, isTls ? "secureConnect" : "connect");
  return socket;
}
