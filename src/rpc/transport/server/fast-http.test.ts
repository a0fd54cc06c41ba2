import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import fc from "../../../../test/support/fast-check.ts";
import { comparable, cutAt, sendPieces } from "../../../../test/support/rpc/raw-http.ts";
import { TEST_METHODS } from "../../../../test/support/rpc/test-methods.ts";
import { HANG_MS } from "../../../../test/support/until.ts";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { string } from "../codec.ts";
import type { CallContext } from "../dispatch/context.ts";
import { createRegistry, defineMethod } from "../dispatch/method.ts";
import type { RpcLimits } from "../limits.ts";
import { type RpcServer, startRpcServer } from "./server.ts";

const LIMITS: Partial<RpcLimits> = { bodyBytesMax: 2000 };
const open: RpcServer[] = [];
let fast = "";
let complete = "";

/** Answers in a later turn. */
const waits = defineMethod({
  name: "test_wait",
  params: {},
  result: string,
  handle: () => new Promise<string>((resolve) => setImmediate(resolve, "waited")),
});

type Held = { readonly context: CallContext; readonly answer: (result: string) => void };
let onHeld: (held: Held) => void = () => {};
/** The next call of `test_hold`, which its test answers. */
const nextHeld = () =>
  new Promise<Held>((resolve) => {
    onHeld = resolve;
  });

const holds = defineMethod({
  name: "test_hold",
  params: {},
  result: string,
  handle: (_params, _modules, context) => new Promise<string>((answer) => onHeld({ context, answer })),
});

async function start(
  fastHttp: boolean,
  limits: Partial<RpcLimits> = LIMITS,
  timers: Timers = fatalTimers,
): Promise<string> {
  const http = { host: "127.0.0.1", port: 0, namespaces: ["test"] };
  const registry = createRegistry([...TEST_METHODS, waits, holds]);
  const server = await startRpcServer({ http, fastHttp, limits }, { registry, modules: {}, timers });
  open.push(server);
  return server.urls.http!;
}

before(async () => {
  [fast, complete] = [await start(true), await start(false)];
});
after(() => Promise.all(open.map((server) => server.close(0))));

const rpc = (method: string, ...params: unknown[]) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

function request(body: string, ...headers: string[]): string {
  return `POST / HTTP/1.1\r\n${headers.map((line) => `${line}\r\n`).join("")}\r\n${body}`;
}

const JSON_TYPE = "Content-Type: application/json";
const lengthOf = (body: string) => `Content-Length: ${Buffer.byteLength(body)}`;
const plain = (body: string, ...headers: string[]) =>
  request(body, "Host: localhost", JSON_TYPE, lengthOf(body), ...headers);

const echo = rpc("test_echo", "hello");
const batch = `[${echo},${rpc("test_add", "0x1", "0x2")},${rpc("test_big", "0x10")}]`;
/** Ends a connection that is still open. */
const LAST = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/** Requests of every kind; those that node:http refuses end the connection. */
const SHAPES: Readonly<Record<string, string>> = {
  plain: plain(echo),
  unicode: plain(rpc("test_echo", "grüße, 世界 🙂")),
  notification: plain('{"jsonrpc":"2.0","method":"test_echo","params":[1]}'),
  "no JSON": plain("{"),
  "empty body": plain(""),
  batch: plain(batch),
  bytes: plain(rpc("test_big", "0x3e8")),
  "ASCII of known length": plain(rpc("test_ascii", "0x3e8").replace('"id":1', '"id":"größer"')),
  slow: plain(rpc("test_wait")),
  "private method": plain(rpc("test_private")),
  "usual headers": plain(
    echo,
    "User-Agent: a/1.0",
    "Accept: */*",
    "Accept-Encoding: gzip, deflate, br",
    "ACCEPT-LANGUAGE:*",
    "Connection: Keep-Alive",
    "sec-fetch-mode: cors",
  ),
  "type with charset": request(
    echo,
    "host:127.0.0.1:1",
    "content-type: application/json; charset=utf-8",
    lengthOf(echo),
  ),
  "other type": request(echo, "Host: localhost", "Content-Type: text/plain", lengthOf(echo)),
  "no type": request(echo, "Host: localhost", lengthOf(echo)),
  "unknown header": plain(echo, "X-Anything: goes"),
  "close after": plain(echo, "Connection: close"),
  "unknown host": request(echo, "Host: evil.example", JSON_TYPE, lengthOf(echo)),
  "host with space": request(echo, "Host: localhost ", JSON_TYPE, lengthOf(echo)),
  "no host": request(echo, JSON_TYPE, lengthOf(echo)),
  "two hosts": plain(echo, "Host: localhost"),
  "two equal lengths": plain(echo, lengthOf(echo)),
  "two lengths": plain(echo, "Content-Length: 5"),
  "list of lengths": request(echo, "Host: localhost", JSON_TYPE, "Content-Length: 5, 5"),
  "signed length": request(echo, "Host: localhost", JSON_TYPE, `Content-Length: +${echo.length}`),
  "hexadecimal length": request(echo, "Host: localhost", JSON_TYPE, "Content-Length: 0x10"),
  "empty length": request(echo, "Host: localhost", JSON_TYPE, "Content-Length:"),
  "huge length": request(echo, "Host: localhost", JSON_TYPE, "Content-Length: 99999999999999999999"),
  "length with zeros": request(echo, "Host: localhost", JSON_TYPE, `Content-Length: 000${echo.length}`),
  "no length": request("", "Host: localhost", JSON_TYPE),
  chunked: request(
    `${echo.length.toString(16)}\r\n${echo}\r\n0\r\n\r\n`,
    "Host: localhost",
    JSON_TYPE,
    "Transfer-Encoding: chunked",
  ),
  "chunked and length": plain(echo, "Transfer-Encoding: chunked"),
  "expects continue": plain(echo, "Expect: 100-continue"),
  upgrade: plain(echo, "Connection: Upgrade", "Upgrade: other"),
  gzip: plain(echo, "Content-Encoding: gzip"),
  "bad token": plain(echo, "Authorization: Bearer x"),
  "own origin": plain(echo, "Origin: http://localhost"),
  "other origin": plain(echo, "Origin: http://evil.example"),
  preflight: "OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\r\n",
  get: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
  head: "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "other path": plain(echo).replace("POST / ", "POST /x "),
  query: plain(echo).replace("POST / ", "POST /?a=b "),
  "absolute target": plain(echo).replace("POST / ", "POST http://localhost/ "),
  "HTTP/1.0": plain(echo).replace("HTTP/1.1", "HTTP/1.0"),
  "HTTP/1.2": plain(echo).replace("HTTP/1.1", "HTTP/1.2"),
  "lower case method": plain(echo).replace("POST", "post"),
  "folded header": plain(echo, "Accept: a,\r\n b"),
  "space before colon": plain(echo, "Accept : a"),
  "no colon": plain(echo, "Accept"),
  "empty name": plain(echo, ": a"),
  "NUL in value": plain(echo, "Accept: a\0b"),
  "byte above ASCII in value": plain(echo, "Accept: \u00fc"),
  "tab in value": plain(echo, "Accept: a\tb"),
  "line feeds alone": plain(echo).replaceAll("\r\n", "\n"),
  "carriage return in value": plain(echo, "Accept: a\rb"),
  "body too large": plain(rpc("test_echo", "x".repeat(2000))),
  "large head": plain(echo, `User-Agent: ${"x".repeat(10_000)}`),
  "huge head": plain(echo, `User-Agent: ${"x".repeat(20_000)}`),
  "empty line before": `\r\n${plain(echo)}`,
  garbage: "\u0016\u0003\u0001 hello\r\n\r\n",
};

/** Compares what both servers answer to `text`, cut into pieces for the first. */
async function assertSameAnswers(text: string, cuts: readonly number[] = []): Promise<void> {
  const bytes = Buffer.from(text + LAST, "utf8");
  const [ours, theirs] = await Promise.all([sendPieces(fast, cutAt(bytes, cuts)), sendPieces(complete, [bytes])]);
  const [answers, expected] = [comparable(ours), comparable(theirs)];
  const last = expected.at(-1) ?? "";
  if (!/^HTTP\/1.1 4/.test(last) || last.includes("application/json")) {
    assert.deepEqual(answers, expected);
    return;
  }
  // What is no HTTP ends the connection, with a bare status where nothing was answered before and silently behind an answer.
  // node:http forgets answers to what it happened to read together with it.
  if (answers.at(-1) === last) return;
  assert.notEqual(answers.length, 0);
  for (const answer of answers) assert.match(answer, /application\/json/);
}

for (const [name, text] of Object.entries(SHAPES)) {
  test(`fast HTTP answers as node:http does: ${name}`, async () => {
    await assertSameAnswers(text);
    await assertSameAnswers(plain(echo) + text);
    await assertSameAnswers(text + plain(batch));
  });
}

test("fast HTTP answers as node:http does, wherever a request is cut", async () => {
  const text = plain(echo) + plain(batch);
  for (let cut = 1; cut < text.length; cut += 3) await assertSameAnswers(text, [cut, cut + 7]);
});

/** Some cases end with a timeout of the server; on a busy machine a hundred of them would take minutes. */
const BOUNDED = { numRuns: 100, interruptAfterTimeLimit: 60_000 };

/** Those after which the connection goes on. */
const GOING_ON = [
  "plain",
  "unicode",
  "notification",
  "no JSON",
  "empty body",
  "batch",
  "bytes",
  "slow",
  "private method",
  "usual headers",
  "type with charset",
  "unknown header",
  "chunked",
  "own origin",
  "preflight",
  "get",
  "tab in value",
];

test("fast HTTP answers as node:http does to any sequence, cut anywhere", async () => {
  const shape = fc.constantFrom(...GOING_ON).map((name) => SHAPES[name]!);
  await fc.assert(
    fc.asyncProperty(fc.array(shape, { maxLength: 6 }), fc.array(fc.nat(1500), { maxLength: 5 }), (shapes, cuts) =>
      assertSameAnswers(shapes.join(""), cuts),
    ),
    BOUNDED,
  );
});

/** Bytes that separate or end something in HTTP, and one of each other kind. */
const telling = fc.constantFrom(...'\r\n\t :;,=/\0\x7f\u00e9aA0-_{"');
const edit = fc.record({
  at: fc.nat(200),
  remove: fc.nat(3),
  insert: fc.array(telling, { maxLength: 2 }),
});

test("fast HTTP answers as node:http does to damaged requests", async () => {
  const edits = fc.array(edit, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom("plain", "usual headers"), edits, async (name, edits) => {
      let damaged = SHAPES[name]!;
      for (const { at, remove, insert } of edits) {
        damaged = damaged.slice(0, at) + insert.join("") + damaged.slice(at + remove);
      }
      await assertSameAnswers(damaged);
    }),
    BOUNDED,
  );
});

async function connected(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  return socket;
}

/** Settles when the server closes. */
async function closes(socket: Socket): Promise<void> {
  socket.on("error", () => {}).resume();
  await once(socket, "close");
}

const IDLE = "idle connection";
const waitingIdle = (timers: ManualTimers) => timers.waiting.filter(({ where }) => where === IDLE).length;

test("fast HTTP: a connection that sends nothing, or nothing more, is closed", async () => {
  const timers = new ManualTimers();
  const url = await start(true, { httpHeadersTimeoutMs: 60, httpIdleTimeoutMs: 30 }, timers);
  const silent = await connected(url);
  await timers.scheduled(IDLE);
  await timers.advance(59);
  assert.equal(waitingIdle(timers), 1);
  const closed = closes(silent);
  await timers.advance(1);
  await closed;

  const idle = await connected(url);
  await timers.scheduled(IDLE);
  idle.write(plain(echo));
  await once(idle, "data");
  await timers.advance(20);
  idle.write(plain(echo));
  await once(idle, "data");
  await timers.advance(29);
  assert.equal(waitingIdle(timers), 1, "its time begins anew with each call");
  const ended = closes(idle);
  await timers.advance(1);
  await ended;
});

test("fast HTTP: an unfinished request is closed in time", { timeout: HANG_MS }, async () => {
  const url = await start(true, { httpHeadersTimeoutMs: 100 });
  const socket = await connected(url);
  socket.write(plain(echo).slice(0, 40));
  await closes(socket);
});

test("fast HTTP: a call outlives the idle time, and calls sent behind it wait for it", async () => {
  const timers = new ManualTimers();
  const url = await start(true, { httpIdleTimeoutMs: 5, httpHeadersTimeoutMs: 5000 }, timers);
  const held = nextHeld();
  const socket = await connected(url);
  let text = "";
  const answered = new Promise<void>((resolve) => {
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.match(/"result"/g)?.length === 3) resolve();
    });
  });
  socket.write(plain(rpc("test_hold")) + plain(echo));
  const { answer } = await held;
  socket.write(plain(echo));
  await timers.advance(1_000);
  assert.equal(text, "");
  answer("waited");
  await answered;
  assert.deepEqual(
    [...text.matchAll(/"result":"(\w+)"/g)].map(([, r]) => r),
    ["waited", "hello", "hello"],
  );
  const closed = once(socket, "close");
  // A look may be under way since before the answer.
  await timers.advance(10);
  await closed;
});

test("fast HTTP: a call is told that its caller is gone", async () => {
  const held = nextHeld();
  const socket = await connected(fast);
  socket.write(plain(rpc("test_hold")));
  const { context, answer } = await held;
  socket.destroy();
  await once(context.signal, "abort");
  answer("nobody");
});

test("fast HTTP: a client that does not read its answers is cut", async () => {
  const timers = new ManualTimers();
  const limits = { httpReplyTimeoutMs: 50, httpIdleTimeoutMs: 60_000 };
  const socket = await connected(await start(true, limits, timers));
  socket.pause();
  socket.on("error", () => {});
  for (let i = 0; i < 200; i++) socket.write(plain(rpc("test_big", "0x20000")));
  await timers.scheduled("slow reader");
  await timers.advance(50);
  let received = 0;
  socket.on("data", (chunk) => {
    received += chunk.length;
  });
  socket.resume();
  await once(socket, "close");
  assert.ok(received < 200 * 0x20000, `${received} bytes were sent to nobody`);
});

test("fast HTTP: closing ends idle connections at once and busy ones behind their answer", async () => {
  const http = { host: "127.0.0.1", port: 0, namespaces: ["test"] };
  const registry = createRegistry([holds]);
  const server = await startRpcServer({ http }, { registry, modules: {}, timers: fatalTimers });
  const [idle, busy] = [await connected(server.urls.http!), await connected(server.urls.http!)];
  const held = nextHeld();
  busy.write(plain(rpc("test_hold")));
  const answered = once(busy, "data");
  const { answer } = await held;
  const closed = server.close(600_000);
  await closes(idle);
  answer("waited");
  assert.match(String((await answered)[0]), /waited/);
  await closed;
});
