import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type NetConnectOpts } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { WebSocket } from "ws";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { HANG_MS } from "../../../../test/support/until.ts";
import { jsonInteger } from "../codec.ts";
import { createRegistry, defineMethod } from "../dispatch/method.ts";
import type { RpcLimits } from "../limits.ts";
import { type RpcServer, startRpcServer } from "./server.ts";

/** The calls of the one client and the call of the other. */
const PIPELINED = 150;
const OTHER = -1;

const timers = new ManualTimers();

/** Which calls ran, in order. */
const ran: number[] = [];

const busy = defineMethod({
  name: "test_busy",
  params: { id: jsonInteger },
  result: jsonInteger,
  handle({ id }) {
    ran.push(id);
    // It takes a millisecond.
    timers.jump(1);
    return id;
  },
});

const quick = defineMethod({
  name: "test_id",
  params: { id: jsonInteger },
  result: jsonInteger,
  handle: ({ id }) => id,
});

/** A call of `test_slow` ends once this is called, also if it begins later. */
let endSlow = () => {};
let slowEnd = Promise.resolve();
const slow = defineMethod({
  name: "test_slow",
  params: { id: jsonInteger },
  result: jsonInteger,
  handle: ({ id }) => slowEnd.then(() => id),
});

const folder = mkdtempSync(join(tmpdir(), "evmint-pipelined-"));
const open: RpcServer[] = [];
let [fast, complete] = ["", ""];

before(async () => {
  const registry = createRegistry([busy]);
  const http = { host: "127.0.0.1", port: 0, namespaces: ["test"] };
  const ipc = { path: join(folder, "ipc"), namespaces: ["test"] };
  const modules = { registry, modules: {}, timers };
  open.push(await startRpcServer({ http, ws: http, ipc }, modules));
  open.push(await startRpcServer({ http, fastHttp: false }, modules));
  [fast, complete] = [open[0]!.urls.http!, open[1]!.urls.http!];
});
after(async () => {
  await Promise.all(open.map((server) => server.close(0)));
  rmSync(folder, { recursive: true });
});

const call = (id: number, method = "test_busy") => JSON.stringify({ jsonrpc: "2.0", id, method, params: [id] });

const overHttp = (id: number, method?: string) => {
  const body = call(id, method);
  return `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

const resultsIn = (text: string) => [...text.matchAll(/"result":(-?\d+)/g)].map(([, id]) => Number(id));

type Client = {
  readonly send: (ids: readonly number[]) => void;
  /** Results so far. */
  readonly results: () => number[];
  readonly close: () => void;
};

async function streamClient(address: NetConnectOpts, messageOf: (id: number) => string): Promise<Client> {
  const socket = connect(address);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  await once(socket, "connect");
  return {
    send: (ids) => void socket.write(ids.map((id) => messageOf(id)).join("")),
    results: () => resultsIn(text),
    close: () => void socket.destroy(),
  };
}

async function wsClient(): Promise<Client> {
  const socket = new WebSocket(open[0]!.urls.ws!);
  const results: number[] = [];
  socket.on("message", (data) => results.push(JSON.parse(String(data)).result));
  await once(socket, "open");
  return {
    send(ids) {
      for (const id of ids) socket.send(call(id));
    },
    results: () => results,
    close: () => socket.terminate(),
  };
}

const httpClient = (url: string) => streamClient({ port: Number(new URL(url).port) }, overHttp);

const CLIENTS: Readonly<Record<string, () => Promise<Client>>> = {
  "fast HTTP": () => httpClient(fast),
  "node:http": () => httpClient(complete),
  IPC: () => streamClient({ path: join(folder, "ipc") }, (id) => `${call(id)}\n`),
  WebSocket: wsClient,
};

for (const [name, clientOf] of Object.entries(CLIENTS)) {
  test(`${name}: the call of another client runs between those that one client pipelines`, async () => {
    const [greedy, other] = [await clientOf(), await clientOf()];
    ran.length = 0;
    const ids = Array.from({ length: PIPELINED }, (_, i) => i);
    greedy.send(ids);
    while (ran.length === 0) await setImmediate();
    other.send([OTHER]);
    while (greedy.results().length < PIPELINED || other.results().length < 1) await setImmediate();
    assert.ok(ran.indexOf(OTHER) < PIPELINED / 3, `${ran.indexOf(OTHER)} calls ran first`);
    assert.deepEqual(greedy.results(), ids);
    assert.deepEqual(
      ran.filter((id) => id !== OTHER),
      ids,
    );
    greedy.close();
    other.close();
  });
}

test("fast HTTP: a client that ends its side after its calls gets all answers", async () => {
  const socket = connect(Number(new URL(fast).port));
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.end(Array.from({ length: 20 }, (_, i) => overHttp(i)).join(""));
  await once(socket, "close");
  assert.equal([...text.matchAll(/"result":/g)].length, 20);
});

/** The results that one client gets which sends `text` to a server of node:http. @param count after so many it closes */
async function answersOf(
  limits: Partial<RpcLimits>,
  text: string,
  count: number,
  meanwhile: (timers: ManualTimers, closed: Promise<unknown>) => Promise<void> = async () => {},
): Promise<number[]> {
  const timers = new ManualTimers();
  const http = { host: "127.0.0.1", port: 0, namespaces: ["test"] };
  const modules = { registry: createRegistry([quick, slow]), modules: {}, timers };
  const server = await startRpcServer({ http, fastHttp: false, limits }, modules);
  const socket = connect(Number(new URL(server.urls.http!).port));
  let answers = "";
  socket.on("data", (chunk) => {
    answers += chunk;
  });
  const closed = new Promise((resolve) => socket.once("close", resolve).on("error", () => {}));
  socket.write(text);
  await meanwhile(timers, closed);
  while (resultsIn(answers).length < count && !socket.closed) await setImmediate();
  await server.close(0);
  return resultsIn(answers);
}

test("node:http: calls wait unparsed while their client waits for an answer", async () => {
  const ids = Array.from({ length: 2000 }, (_, i) => i);
  // Parsed, all of one read would take 1 MB.
  const limits = { inputBytesMax: 128 * 1024 };
  const text = ids.map((id) => overHttp(id, "test_id")).join("");
  assert.deepEqual(await answersOf(limits, text, ids.length), ids);
});

test("node:http: a call that waits for another does not have to be complete in time", async () => {
  // So that a piece ends within the headers.
  const long = `X-Other: ${"a".repeat(700)}\r\nHost`;
  const calls = Array.from({ length: 100 }, (_, i) =>
    overHttp(i, i === 0 ? "test_slow" : "test_id").replace("Host", long),
  );
  let answers: number[] = [];
  // node:http has a clock of its own. On a busy machine it finds the connection late before it has read the first call: more time, then.
  for (let httpHeadersTimeoutMs = 50; answers.length === 0; httpHeadersTimeoutMs *= 2) {
    assert.ok(httpHeadersTimeoutMs < HANG_MS, "a server that has time answers");
    slowEnd = new Promise((resolve) => {
      endSlow = resolve;
    });
    answers = await answersOf({ httpHeadersTimeoutMs }, calls.join(""), 100, async (timers, closed) => {
      // node:http has found the call behind it late.
      await Promise.race([timers.scheduled("late request"), closed]);
      endSlow();
    });
  }
  assert.equal(answers.length, 100);
});
