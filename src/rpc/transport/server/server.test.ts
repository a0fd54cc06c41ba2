import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { WebSocket } from "ws";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { callHttp, sendHttp } from "../../../../test/support/rpc/rpc-client.ts";
import { TEST_REGISTRY } from "../../../../test/support/rpc/test-methods.ts";
import { HANG_MS, until } from "../../../../test/support/until.ts";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import type { Authenticate } from "../auth/authenticator.ts";
import { OWNER } from "../auth/credential.ts";
import { SILENT_OBSERVER } from "../dispatch/observer.ts";
import type { RpcLimits } from "../limits.ts";
import { type RpcServer, type RpcServerModules, startRpcServer } from "./server.ts";

const open: RpcServer[] = [];
const home = mkdtempSync(join(tmpdir(), "evmint-rpc-"));
after(async () => {
  await Promise.all(open.map((server) => server.close(0)));
  rmSync(home, { recursive: true });
});

/** Systems besides Linux have 127.0.0.1 alone. */
const NEEDS_ADDRESSES = { skip: process.platform !== "linux" && "left out: a client needs two addresses of loopback" };

type Setup = {
  readonly limits?: Partial<RpcLimits>;
  readonly isOpen?: boolean;
  readonly modules?: Partial<RpcServerModules<unknown>>;
  readonly allowedOrigins?: readonly string[];
  readonly allowedHosts?: readonly string[];
};

async function start(setup: Setup = {}) {
  const endpoint = {
    host: "127.0.0.1",
    port: 0,
    namespaces: ["test"],
    isOpen: setup.isOpen ?? false,
  };
  const server = await startRpcServer(
    {
      http: endpoint,
      ws: endpoint,
      ipc: { path: join(home, `${open.length}.ipc`) },
      ...(setup.limits && { limits: setup.limits }),
      ...(setup.allowedOrigins && { allowedOrigins: setup.allowedOrigins }),
      ...(setup.allowedHosts && { allowedHosts: setup.allowedHosts }),
    },
    { registry: TEST_REGISTRY, modules: {}, timers: fatalTimers, ...setup.modules },
  );
  open.push(server);
  return { server, http: server.urls.http!, ws: server.urls.ws!, ipc: server.urls.ipc! };
}

const echo = '{"jsonrpc":"2.0","id":1,"method":"test_echo","params":["hello"]}';
const echoed = '{"jsonrpc":"2.0","id":1,"result":"hello"}';
const privateCall = '{"jsonrpc":"2.0","id":1,"method":"test_private","params":[]}';

/** Sends text as it is to a TCP port and gives back all that comes until the peer closes. */
function sendRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.on("close", () => resolve(received));
    socket.on("error", reject);
  });
}

async function openWs(url: string, headers: Record<string, string> = {}): Promise<WebSocket> {
  const ws = new WebSocket(url.replace("http:", "ws:"), { headers });
  await new Promise((resolve, reject) => {
    ws.once("open", resolve);
    ws.once("error", reject);
  });
  return ws;
}

/** The next `count` messages, also when they come in one packet. */
function nextMessages(ws: WebSocket, count: number): Promise<string[]> {
  const messages: string[] = [];
  return new Promise((resolve) => {
    ws.on("message", (data) => {
      if (messages.push(data.toString()) === count) resolve(messages);
    });
  });
}
const nextMessage = async (ws: WebSocket): Promise<string> => (await nextMessages(ws, 1))[0]!;
const closeCode = (ws: WebSocket): Promise<number> => new Promise((resolve) => ws.once("close", resolve));

test("HTTP answers a call with 200 and JSON, and nothing at all to a notification", async () => {
  const { http } = await start();
  const { status, headers, text } = await sendHttp(http, echo);
  assert.deepEqual([status, headers["content-type"], text], [200, "application/json", echoed]);
  const silent = await sendHttp(http, '{"jsonrpc":"2.0","method":"test_echo","params":[1]}');
  assert.deepEqual([silent.status, silent.text], [200, ""]);
  assert.deepEqual((await sendHttp(http, "")).status, 200);
});

test("HTTP answers a parse error with 200", async () => {
  const { http } = await start();
  const { status, json } = await sendHttp(http, "{");
  assert.deepEqual([status, json.error.code, json.id], [200, -32700, null]);
});

test("HTTP sends results that are bytes and batches as one body", async () => {
  const { http } = await start();
  const big = '{"jsonrpc":"2.0","id":1,"method":"test_big","params":["0x186a0"]}';
  const { json, headers, text } = await sendHttp(http, `[${big},${echo}]`);
  assert.equal(json[0].result.length, 100_000);
  assert.equal(json[1].result, "hello");
  assert.equal(headers["content-length"], String(text.length));
});

test("HTTP: GET on / is 200 and empty; other methods, paths and ports are rejected with JSON", async () => {
  const { http, ws } = await start();
  const get = await sendHttp(http, undefined, {}, "GET");
  assert.deepEqual([get.status, get.text], [200, ""]);
  for (const method of ["PUT", "DELETE", "PATCH"]) {
    const { status, json } = await sendHttp(http, "{}", {}, method);
    assert.deepEqual([status, json.error.code], [405, -32600]);
  }
  assert.equal((await sendHttp(`${http}/other`, echo)).status, 404);
  assert.equal((await sendHttp(ws.replace("ws:", "http:"), echo)).status, 426);
});

test("HTTP: only JSON content types are read", async () => {
  const { http } = await start();
  for (const type of ["application/json; charset=utf-8", "application/json-rpc", "Application/JSON"]) {
    assert.equal((await sendHttp(http, echo, { "content-type": type })).text, echoed, type);
  }
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]) {
    const { status, json } = await sendHttp(http, echo, { "content-type": type });
    assert.deepEqual([status, json.error.code], [415, -32600], type);
  }
  for (const encoding of ["gzip", "identity, gzip"]) {
    assert.equal((await sendHttp(http, echo, { "content-encoding": encoding })).status, 415, encoding);
  }
  for (const encoding of ["identity", "Identity"]) {
    assert.equal((await sendHttp(http, echo, { "content-encoding": encoding })).text, echoed, encoding);
  }
});

test("HTTP: a body over the limit is 413, announced or chunked", async () => {
  const { http } = await start({ limits: { bodyBytesMax: 1000 } });
  const body = echo.replace("hello", "x".repeat(2000));
  const announced = await sendHttp(http, body);
  assert.deepEqual([announced.status, announced.headers["connection"]], [413, "close"]);
  const chunked = await sendHttp(http, body, { "transfer-encoding": "chunked" });
  assert.equal(chunked.status, 413);
});

test("HTTP: a client that expects 100-continue gets its rejection before it sends its body", async () => {
  const { http } = await start({ limits: { bodyBytesMax: 1000 } });
  const head = (length: number) =>
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
    `Connection: close\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;
  assert.match(await sendRaw(http, head(5000)), /^HTTP\/1.1 413 /);
  assert.match(await sendRaw(http, head(echo.length) + echo), /^HTTP\/1.1 100 [\s\S]*HTTP\/1.1 200 /);
});

test("HTTP: the Host header is an IP literal or a listed name", async () => {
  const { http } = await start({ allowedHosts: ["localhost", "node.example"] });
  for (const host of [
    "localhost",
    "localhost:8545",
    "LOCALHOST",
    "127.0.0.1:1",
    "[::1]:8545",
    "10.1.2.3",
    "node.example",
  ]) {
    assert.equal((await sendHttp(http, echo, { host })).status, 200, host);
  }
  for (const host of [
    "evil.example",
    "localhost.evil.example",
    "localhost.",
    "localhost:evil",
    "localhost:1@evil.example",
    "[::1",
    "[evil]",
    "1.2.3.4.evil.example",
  ]) {
    const { status, json } = await sendHttp(http, echo, { host });
    assert.deepEqual([status, json.error.code], [403, -32600], host);
  }
});

test("HTTP: two Host headers, and targets that are no URL, are rejected", async () => {
  const { http } = await start();
  const rest = `Content-Type: application/json\r\nConnection: close\r\nContent-Length: ${echo.length}\r\n\r\n${echo}`;
  assert.match(await sendRaw(http, `POST / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n${rest}`), /^HTTP\/1.1 400 /);
  for (const target of ["http:///", "http://", "ftp://localhost/", "localhost"]) {
    const answer = await sendRaw(http, `POST ${target} HTTP/1.1\r\nHost: localhost\r\n${rest}`);
    assert.match(answer, /^HTTP\/1.1 400 /, target);
  }
});

test("HTTP: a target in absolute form is served, and its host takes the place of the Host header", async () => {
  const { http } = await start();
  const status = async (target: string, host: string, more = "") => {
    const head = `POST ${target} HTTP/1.1\r\nHost: ${host}\r\n${more}Content-Type: application/json\r\nConnection: close\r\n`;
    return (await sendRaw(http, `${head}Content-Length: ${echo.length}\r\n\r\n${echo}`)).slice(9, 12);
  };
  assert.equal(await status("http://localhost:8545/", "localhost:8545"), "200");
  assert.equal(await status("HTTP://127.0.0.1", "127.0.0.1"), "200");
  assert.equal(await status("https://localhost?token=x", "localhost"), "200");
  assert.equal(await status("http://localhost/", "evil.example"), "200");
  assert.equal(await status("http://localhost/nothing", "localhost"), "404");
  for (const host of ["evil.example", "evil.example@localhost", "localhost@evil.example", "localhost:x"]) {
    assert.equal(await status(`http://${host}/`, "localhost"), "403", host);
  }
  const own = "Origin: http://evil.example\r\n";
  assert.equal(await status("http://localhost/", "evil.example", own), "403", "no page of this listener");
  const options = "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  assert.match(await sendRaw(http, `OPTIONS http://localhost ${options}`), /^HTTP\/1.1 204 /);
});

test("HTTP: a page may call only if its Origin is listed or its own", async () => {
  const { http } = await start({
    allowedOrigins: ["https://app.example", "http://localhost", "chrome-extension://*"],
  });
  for (const origin of [
    "https://app.example",
    "http://localhost:3000",
    "http://localhost",
    "chrome-extension://abcdef",
    "Titanoboa",
    http,
  ]) {
    const { status, headers } = await sendHttp(http, echo, { origin });
    assert.deepEqual([status, headers["access-control-allow-origin"]], [200, origin]);
  }
  for (const origin of [
    "null",
    "Null",
    "app.example:443",
    "https://evil.example",
    "https://app.example.evil",
    "https://app.example:444",
    "http://app.example",
    "https://evilapp.example",
    "https://app.example/",
    "http://localhost:3000@evil",
    "",
  ]) {
    const { status, headers } = await sendHttp(http, echo, { origin });
    assert.deepEqual([status, headers["access-control-allow-origin"]], [403, undefined], origin);
  }
});

test("HTTP: a preflight is answered for listed origins only", async () => {
  const { http } = await start({ allowedOrigins: ["https://app.example"] });
  const good = await sendHttp(http, undefined, { origin: "https://app.example" }, "OPTIONS");
  assert.equal(good.status, 204);
  assert.equal(good.headers["access-control-allow-methods"], "POST, GET");
  assert.equal(good.headers["access-control-allow-headers"], "content-type, authorization");
  const bad = await sendHttp(http, undefined, { origin: "https://evil.example" }, "OPTIONS");
  assert.deepEqual([bad.status, bad.headers["access-control-allow-origin"]], [403, undefined]);
});

test("HTTP: a private method without the credential is 401, an open listener serves it", async () => {
  const { http } = await start();
  const { status, json } = await sendHttp(http, privateCall);
  assert.deepEqual([status, json.error.code], [401, -32001]);
  const batch = await sendHttp(http, `[${privateCall}]`);
  assert.deepEqual([batch.status, batch.json[0].error.code], [200, -32001]);
  const opened = await start({ isOpen: true });
  assert.equal((await callHttp(opened.http, "test_private")).result, "secret");
});

test("HTTP and WebSocket: the authenticator decides; a bad token is 401 at once", async () => {
  const authenticate: Authenticate = ({ authorization }) => {
    if (authorization === undefined) return { kind: "none" };
    return authorization === "Bearer good" ? { kind: "valid", credential: OWNER } : { kind: "invalid" };
  };
  const { http, ws } = await start({ modules: { authenticate } });
  assert.equal((await sendHttp(http, privateCall)).status, 401);
  assert.equal((await sendHttp(http, echo, { authorization: "Bearer bad" })).status, 401);
  const good = await sendHttp(http, privateCall, { authorization: "Bearer good" });
  assert.deepEqual([good.status, good.json.result], [200, "secret"]);
  await assert.rejects(openWs(ws, { authorization: "Bearer bad" }), /401/);
  const socket = await openWs(ws, { authorization: "Bearer good" });
  socket.send(privateCall);
  assert.equal(JSON.parse(await nextMessage(socket)).result, "secret");
  socket.close();
});

test("HTTP: connections beyond the limit are told so", async () => {
  const { http } = await start({ limits: { httpConnectionsMax: 1 } });
  const { hostname, port } = new URL(http);
  const held = connect(Number(port), hostname);
  await new Promise((resolve) => held.once("connect", resolve));
  const { status, headers, json } = await sendHttp(http, echo);
  assert.deepEqual([status, headers["retry-after"], json.error.code], [503, "1", -32005]);
  held.destroy();
});

test("HTTP: an address that has all connections leaves room for another one", {
  ...NEEDS_ADDRESSES,
  timeout: HANG_MS,
}, async () => {
  const limits = { httpConnectionsMax: 4, wsConnectionsMax: 4 };
  const { http, ws } = await start({ limits });
  const { port } = new URL(http);
  const from = async (localAddress: string, at = port) => {
    const socket = connect({ host: "127.0.0.1", port: Number(at), localAddress });
    socket.on("error", () => {});
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    await once(socket, "connect");
    return { socket, closed };
  };
  const answered = async ({ socket }: { socket: Socket }) => {
    socket.write(
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${echo.length}\r\n\r\n${echo}`,
    );
    return String((await once(socket, "data"))[0]).slice(9, 12);
  };
  const held = [];
  for (let i = 0; i < 8; i++) held.push(await from("127.0.0.1"));
  const own = await from("127.0.0.1");
  await own.closed;
  const other = await from("127.0.0.2");
  await held[0]!.closed;
  assert.equal(await answered(other), "200");
  assert.equal(await answered(held[7]!), "503");
  for (const { socket } of [...held, other]) socket.destroy();

  const upgrade =
    "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  const upgraded = async (address: string) => {
    const connection = await from(address, new URL(ws).port);
    connection.socket.write(upgrade);
    return { ...connection, status: String((await once(connection.socket, "data"))[0]).slice(9, 12) };
  };
  const open = [];
  for (let i = 0; i < 4; i++) open.push(await upgraded("127.0.0.1"));
  assert.equal((await upgraded("127.0.0.1")).status, "503");
  const closing = once(open[0]!.socket, "data");
  assert.equal((await upgraded("127.0.0.2")).status, "101");
  assert.deepEqual([...((await closing)[0] as Buffer).subarray(0, 1)], [0x88], "a close frame");
  for (const { socket } of open) socket.destroy();
});

test("HTTP: a call that takes too long gets -32002 with status 200", async () => {
  const timers = new ManualTimers();
  const { http } = await start({ limits: { httpCallTimeoutMs: 20 }, modules: { timers } });
  const answer = sendHttp(http, '{"jsonrpc":"2.0","id":1,"method":"test_never"}');
  const { inMs } = await timers.scheduled("call timeout");
  assert.equal(inMs, 20);
  await timers.advance(20);
  const { status, json } = await answer;
  assert.deepEqual([status, json.error.code], [200, -32002]);
});

test("HTTP: requests smuggled by two lengths, or not HTTP at all, end with 400", async () => {
  const { http } = await start();
  for (const head of [
    "Content-Length: 5\r\nTransfer-Encoding: chunked",
    "Content-Length: 5\r\nContent-Length: 6",
    "Transfer-Encoding: xchunked",
  ]) {
    const request = `POST / HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n0\r\n\r\n`;
    assert.match(await sendRaw(http, request), /^HTTP\/1.1 4/, head);
  }
  assert.match(await sendRaw(http, "\u0016\u0003\u0001 hello\r\n\r\n"), /^HTTP\/1.1 400 /);
});

test("HTTP: complete requests before junk on a connection are answered, then it ends with 400", async () => {
  const { http } = await start();
  const call = (id: number) => {
    const body = `{"jsonrpc":"2.0","id":${id},"method":"test_add","params":["0x1","0x2"]}`;
    return `POST / HTTP/1.1\r\nHost: localhost\r\nX-Not-Plain: 1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  const text = await sendRaw(http, `${call(1)}${call(2)}\u0016\u0003 junk\r\n\r\n`);
  const statuses = [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status);
  assert.deepEqual(statuses, ["200", "200", "400"]);
  assert.match(text, /"id":1,"result":"0x3"[\s\S]*"id":2,"result":"0x3"/);
});

test("WebSocket and IPC: calls before text that is no JSON are answered before the connection ends", async () => {
  const { ws, ipc } = await start();
  const add = '{"jsonrpc":"2.0","id":1,"method":"test_add","params":["0x1","0x2"]}';
  const socket = await openWs(ws);
  const codes = closeCode(socket);
  const answers = nextMessages(socket, 2);
  socket.send(add);
  socket.send("hello");
  const texts = (await answers).map((text) => JSON.parse(text));
  assert.deepEqual(texts.map(({ id }) => id).sort(), [1, null].sort());
  assert.equal(await codes, 1003);
  const stream = connect(ipc);
  stream.write(`${add}hello\n`);
  let received = "";
  for await (const chunk of stream) received += chunk;
  assert.match(received, /"result":"0x3"/);
  assert.match(received, /-32700/);
});

test("WebSocket and IPC: a message that is not finished in time ends the connection, idle ones stay", async () => {
  const rejected: string[] = [];
  const observer = {
    ...SILENT_OBSERVER,
    rejected: (transport: string, reason: string) => void rejected.push(`${transport} ${reason}`),
  };
  const timers = new ManualTimers();
  const { ws, ipc } = await start({ limits: { messageTimeoutMs: 50 }, modules: { observer, timers } });
  const idle = await openWs(ws);
  const slow = await openWs(ws);
  const code = closeCode(slow);
  slow.send("[", { fin: false });
  assert.equal((await timers.scheduled("message timeout")).inMs, 50);
  await timers.advance(50);
  assert.equal(await code, 1008);
  const stream = connect(ipc);
  stream.on("error", () => {});
  stream.write("[");
  const closed = new Promise((resolve) => stream.once("close", resolve));
  await timers.scheduled("message timeout");
  await timers.advance(50);
  await closed;
  assert.deepEqual(rejected, ["ws timeout", "ipc timeout"]);
  idle.send(echo);
  assert.equal(await nextMessage(idle), echoed);
  idle.terminate();
});

test("WebSocket answers on its own port and on the HTTP port", async () => {
  const { http, ws } = await start();
  for (const url of [http, ws]) {
    const socket = await openWs(url);
    assert.equal(socket.extensions, "");
    socket.send(echo);
    assert.equal(await nextMessage(socket), echoed);
    socket.send('{"id":2,"method":"test_big","params":["0x64"]}');
    assert.equal(JSON.parse(await nextMessage(socket)).result.length, 100);
    socket.close();
  }
});

test("WebSocket: calls run at the same time and notices follow the answer", async () => {
  const { ws } = await start();
  const socket = await openWs(ws);
  socket.send('{"jsonrpc":"2.0","id":1,"method":"test_never"}');
  socket.send('{"jsonrpc":"2.0","id":2,"method":"test_notify","params":["0x1","ping"]}');
  const [answer, notice] = await nextMessages(socket, 2);
  assert.equal(JSON.parse(answer!).id, 2);
  assert.deepEqual(JSON.parse(notice!), { notice: "ping" });
  socket.close();
});

test("WebSocket: notices, answers, pings and the close frame of a slow reader do not mix", {
  timeout: HANG_MS,
}, async () => {
  const timers = new ManualTimers();
  const { server, ws } = await start({ limits: { wsPingIntervalMs: 1_000 }, modules: { timers } });
  const socket = await openWs(ws);
  let answers = 0;
  const notices: number[] = [];
  const pinged = once(socket, "ping");
  const rounds = 40;
  const received = new Promise<void>((resolve) => {
    socket.on("message", (data) => {
      const { id, notice } = JSON.parse(data.toString());
      if (id !== undefined) answers++;
      else notices.push(Number(notice.slice(0, 4)));
      if (answers === 2 * rounds && notices.length === 2 * rounds) resolve();
    });
  });
  // Answers beyond what the system takes at once, so that most frames have to wait behind others.
  for (let i = 0; i < rounds; i++) {
    const text = `${1000 + i}${"x".repeat(97 * i)}`;
    socket.send(`{"id":1,"method":"test_big","params":["0x${(200_000 + i).toString(16)}"]}`);
    socket.send(`{"id":1,"method":"test_notify","params":["0x2","${text}"]}`);
    if (i % 8 === 0) {
      socket.pause();
      // Pings come between frames that wait.
      await timers.advance(1_000 / 20);
      socket.resume();
    }
  }
  await received;
  const expected = Array.from({ length: 2 * rounds }, (_, i) => 1000 + Math.floor(i / 2));
  assert.deepEqual(notices, expected);
  await timers.advance(1_000);
  await pinged;
  const closed = closeCode(socket);
  await server.close();
  assert.equal(await closed, 1001);
});

test("WebSocket: Host and Origin are checked at the upgrade", async () => {
  const { http, ws } = await start({ allowedOrigins: ["https://app.example"] });
  for (const url of [http, ws]) {
    await assert.rejects(openWs(url, { host: "evil.example" }), /403/);
    await assert.rejects(openWs(url, { origin: "https://evil.example" }), /403/);
    (await openWs(url, { origin: "https://app.example" })).close();
  }
});

test("WebSocket: connections beyond the limit are 503", async () => {
  const { ws } = await start({ limits: { wsConnectionsMax: 1 } });
  const first = await openWs(ws);
  await assert.rejects(openWs(ws), /503/);
  first.close();
});

test("WebSocket: a message over the limit closes with 1009, no JSON with 1003 after its error", async () => {
  const { ws } = await start({ limits: { bodyBytesMax: 1000 } });
  const big = await openWs(ws);
  big.send("x".repeat(2000));
  assert.equal(await closeCode(big), 1009);
  const bad = await openWs(ws);
  bad.send("{");
  const closed = closeCode(bad);
  assert.equal(JSON.parse(await nextMessage(bad)).error.code, -32700);
  assert.equal(await closed, 1003);
});

for (const [name, frame] of [
  ["nothing", ""],
  ["blanks", " \n"],
] as const) {
  test(`WebSocket: a frame of ${name} is no JSON`, async () => {
    const { ws } = await start();
    const socket = await openWs(ws);
    const closed = closeCode(socket);
    socket.send(frame);
    assert.equal(JSON.parse(await nextMessage(socket)).error.code, -32700);
    assert.equal(await closed, 1003);
  });
}

test("WebSocket: a binary frame is read as the text in it", async () => {
  const { ws } = await start();
  const binary = await openWs(ws);
  binary.send(Buffer.from(echo));
  assert.equal(await nextMessage(binary), echoed);
  binary.terminate();
});

test("WebSocket: a subscriber that does not read is cut", async () => {
  let cut = (_reason: string) => {};
  const rejected = new Promise<string>((resolve) => {
    cut = resolve;
  });
  const observer = { ...SILENT_OBSERVER, rejected: (_transport: string, reason: string) => cut(reason) };
  const { ws } = await start({ limits: { notificationBufferBytesMax: 100_000 }, modules: { observer } });
  const socket = await openWs(ws);
  socket.pause();
  const text = "x".repeat(10_000);
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "test_notify", params: ["0x7d0", text] }));
  const closed = closeCode(socket);
  assert.equal(await rejected, "notifications");
  socket.resume();
  assert.ok([1008, 1006].includes(await closed));
});

test("IPC: a stream of messages, white space or not between them, on a socket of mode 0600", async () => {
  const { ipc } = await start();
  assert.equal(statSync(ipc).mode & 0o777, 0o600);
  const socket = connect(ipc);
  socket.write(`${echo}${echo}\n [${echo},${privateCall}]`);
  let received = "";
  for await (const chunk of socket) {
    received += chunk;
    if (received.split("\n").length > 3) break;
  }
  const answers = received.trim().split("\n");
  assert.deepEqual(answers.slice(0, 2), [echoed, echoed]);
  assert.equal(JSON.parse(answers[2]!)[1].result, "secret");
});

test("IPC: garbage gets a parse error and the connection ends", async () => {
  const { ipc } = await start();
  const socket = connect(ipc);
  socket.write("hello\n");
  let received = "";
  for await (const chunk of socket) received += chunk;
  assert.equal(JSON.parse(received).error.code, -32700);
});

test("IPC: a message over the limit ends the connection", async () => {
  const { ipc } = await start({ limits: { bodyBytesMax: 1000 } });
  const socket = connect(ipc);
  socket.on("error", () => {});
  socket.write(`["${"x".repeat(200_000)}`);
  await new Promise((resolve) => socket.once("close", resolve));
});

test("IPC: a stale socket is replaced, a living one is not, a long path is rejected", async () => {
  const stale = join(home, "stale.ipc");
  writeFileSync(stale, "");
  const options = { ipc: { path: stale } };
  const modules = { registry: TEST_REGISTRY, modules: {}, timers: fatalTimers };
  open.push(await startRpcServer(options, modules));
  await assert.rejects(startRpcServer(options, modules), { code: "IPC_PATH_IN_USE" });
  await assert.rejects(startRpcServer({ ipc: { path: `/${"x".repeat(200)}` } }, modules), {
    code: "IPC_PATH_TOO_LONG",
  });
});

test("a server that cannot listen everywhere listens nowhere", async () => {
  const { http } = await start();
  const port = Number(new URL(http).port);
  const endpoint = { host: "127.0.0.1", namespaces: ["test"] };
  const path = join(home, "half.ipc");
  await assert.rejects(
    startRpcServer(
      { ipc: { path }, http: { ...endpoint, port: 0 }, ws: { ...endpoint, port } },
      { registry: TEST_REGISTRY, modules: {}, timers: fatalTimers },
    ),
    { code: "EADDRINUSE" },
  );
  await assert.rejects(new Promise((_, reject) => connect(path).once("error", reject)));
});

test("closing ends WebSocket connections with 1001", async () => {
  const { server, ws } = await start();
  const socket = await openWs(ws);
  const closed = closeCode(socket);
  await server.close(200);
  assert.equal(await closed, 1001);
});

/** Processes for connections that do not serve yet: all stay here. */
const NO_WORKER_YET = { handOver: () => false, opened() {}, async shut() {} };

test("closing does not wait for connections that no worker took", async () => {
  const timers = new ManualTimers();
  const { server, http } = await start({ modules: { connectionWorkers: NO_WORKER_YET, timers } });
  // Chunks are for node:http, which keeps the connection.
  const call = `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const socket = connect(Number(new URL(http).port));
  let text = "";
  const ended = new Promise((resolve) => socket.on("close", resolve));
  const answered = new Promise<void>((resolve) => {
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.includes('"result":"hello"')) resolve();
    });
  });
  socket.write(`${call}${echo.length.toString(16)}\r\n${echo}\r\n0\r\n\r\n`);
  await answered;
  // Without an end of the grace, which no clock brings here.
  await server.close(60_000);
  await ended;
});

test("a client that does not finish its headers is cut where no worker took it", async () => {
  const limits = { httpHeadersTimeoutMs: 200 };
  const { http } = await start({ limits, modules: { connectionWorkers: NO_WORKER_YET } });
  // On a busy machine the time can be over before the server has read a byte: then it just closes.
  const answer = () => sendRaw(http, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n").catch(() => "");
  assert.match(await until(answer, "an answer to a late request"), /^HTTP\/1.1 408 /);
});
