import assert from "node:assert/strict";
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import { jsonUnsigned, string } from "../codec.ts";
import { createRegistry, defineMethod } from "../dispatch/method.ts";
import { acceptsGzip, COMPRESSION_LIMITS, placeOfAddress, placeOfClient, ReplyCompressor } from "./compression.ts";
import { type RpcServer, startRpcServer } from "./server.ts";

const registry = createRegistry([
  defineMethod({
    name: "test_now",
    params: { length: jsonUnsigned },
    result: string,
    handle: ({ length }) => "é".repeat(length),
  }),
  defineMethod({
    name: "test_later",
    params: { length: jsonUnsigned },
    result: string,
    handle: async ({ length }) => "é".repeat(length),
  }),
]);

/** Letters of an answer that clients on this machine get compressed. */
const LARGE = COMPRESSION_LIMITS.localBytesMin;

const servers: RpcServer[] = [];
before(async () => {
  for (const fastHttp of [true, false]) {
    const http = { host: "127.0.0.1", port: 0, namespaces: ["test"] };
    servers.push(await startRpcServer({ http, fastHttp }, { registry, modules: {}, timers: fatalTimers }));
  }
});
after(() => Promise.all(servers.map((server) => server.close(0))));

type Answer = { readonly encoding: string | undefined; readonly length: number; readonly body: Buffer };

/** What comes over the wire. */
function post(url: string, body: string, acceptEncoding?: string, more?: OutgoingHttpHeaders): Promise<Answer> {
  const headers = {
    ...more,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...(acceptEncoding !== undefined && { "accept-encoding": acceptEncoding }),
  };
  return new Promise((resolve, reject) => {
    const call = request(url, { method: "POST", headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () => {
        const { "content-encoding": encoding, "content-length": length } = response.headers;
        resolve({ encoding, length: Number(length), body: Buffer.concat(chunks) });
      });
    });
    call.once("error", reject);
    call.end(body);
  });
}

const call = (method: string, length: number) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [length] });

for (const [index, name] of ["fast", "complete"].entries()) {
  const url = () => servers[index]!.urls.http!;

  for (const method of ["test_now", "test_later"]) {
    test(`${name}: a large answer of ${method} is compressed for a client that asks, and for no other`, async () => {
      const plain = await post(url(), call(method, LARGE));
      assert.equal(plain.encoding, undefined);
      const compressed = await post(url(), call(method, LARGE), "gzip, deflate");
      assert.equal(compressed.encoding, "gzip");
      assert.equal(compressed.length, compressed.body.length);
      assert.ok(compressed.length < plain.length / 10);
      assert.deepEqual(gunzipSync(compressed.body), plain.body);
      assert.equal((await post(url(), call(method, LARGE), "br, gzip;q=0")).encoding, undefined);
    });

    test(`${name}: a small answer of ${method} is sent as it is`, async () => {
      const { encoding, body } = await post(url(), call(method, 10), "gzip");
      assert.equal(encoding, undefined);
      assert.equal(JSON.parse(body.toString()).result, "é".repeat(10));
    });
  }

  test(`${name}: an answer for a client of a proxy is compressed although the proxy is on this machine`, async () => {
    const proxied = await post(url(), call("test_now", 10_000), "gzip", { "x-forwarded-for": "192.0.2.1" });
    assert.equal(proxied.encoding, "gzip");
    assert.equal((await post(url(), call("test_now", 10_000), "gzip")).encoding, undefined);
  });

  test(`${name}: a batch is compressed, and fetch reads it`, async () => {
    const body = `[${Array(50).fill(call("test_now", 22_000)).join()}]`;
    assert.equal((await post(url(), body, "gzip")).encoding, "gzip");
    const headers = { "content-type": "application/json" };
    const response = await fetch(url(), { method: "POST", headers, body });
    assert.equal(response.headers.get("content-encoding"), "gzip");
    assert.equal(((await response.json()) as unknown[]).length, 50);
  });

  test(`${name}: calls sent ahead on one connection are answered in order, compressed or not`, async () => {
    const lengths = [LARGE, 1, LARGE + 1_000, 2, LARGE + 2_000];
    const calls = lengths.map((length, i) => call(i % 2 ? "test_later" : "test_now", length));
    const heads = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n";
    const requests = calls.map((body) => `${heads}Content-Length: ${body.length}\r\n\r\n${body}`).join("");
    const answers = await answersOf(url(), requests, lengths.length);
    assert.deepEqual(answers, lengths);
  });
}

/** Lengths of the results of so many answers to what is sent in one piece. */
async function answersOf(url: string, requests: string, count: number): Promise<number[]> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(requests);
  const found: number[] = [];
  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const bodyStart = received.indexOf("\r\n\r\n") + 4;
      const head = received.toString("latin1", 0, bodyStart).toLowerCase();
      const end = bodyStart + Number(/content-length: (\d+)/.exec(head)?.[1]);
      if (bodyStart < 4 || received.length < end) break;
      const body = received.subarray(bodyStart, end);
      const isGzip = head.includes("content-encoding: gzip");
      const { result } = JSON.parse((isGzip ? gunzipSync(body) : body).toString());
      assert.equal(isGzip, result.length > 1_000);
      found.push(result.length);
      received = received.subarray(end);
    }
    if (found.length === count) break;
  }
  return found;
}

const replyOf = (length: number) => {
  return { parts: ["x".repeat(length)], byteLength: length, isParseError: false, isUnauthorized: false };
};

test("an answer to a client on this machine is compressed only where it is large", async () => {
  const compressor = new ReplyCompressor();
  const small = replyOf(LARGE - 1);
  assert.equal(compressor.compress(small, "local"), undefined);
  assert.equal((await compressor.compress(replyOf(LARGE), "local"))?.isGzip, true);
  assert.equal((await compressor.compress(small, "remote"))?.isGzip, true);
});

test("a client is on this machine by its address, unless a proxy asks for it", () => {
  // The others are of RFC 5737 and RFC 3849.
  const places = Object.entries({
    local: ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"],
    remote: ["192.0.2.1", "1.127.0.1", "::ffff:192.0.2.1", "2001:db8::1"],
  });
  for (const [place, addresses] of places) {
    for (const address of addresses) assert.equal(placeOfAddress(address), place, address);
  }
  const requestOf = (headers: Readonly<Record<string, string>>, httpVersion = "1.1") =>
    ({ socket: { remoteAddress: "127.0.0.1" }, httpVersion, headers }) as unknown as IncomingMessage;
  assert.equal(placeOfClient(requestOf({ host: "localhost" })), "local");
  assert.equal(placeOfClient(requestOf({ host: "localhost" }, "1.0")), "remote");
  for (const header of ["forwarded", "via", "x-forwarded-for", "x-real-ip"]) {
    assert.equal(placeOfClient(requestOf({ [header]: "192.0.2.1" })), "remote", header);
  }
});

test("no more answers are compressed at a time than the limit", async () => {
  const compressor = new ReplyCompressor();
  const reply = replyOf(2_000);
  const running = Array.from({ length: COMPRESSION_LIMITS.runningMax }, () => compressor.compress(reply, "remote"));
  assert.ok(running.every((each) => each !== undefined));
  assert.equal(compressor.compress(reply, "remote"), undefined);
  await Promise.all(running);
  assert.notEqual(compressor.compress(reply, "remote"), undefined);
});

test("acceptsGzip reads weights and the wildcard", () => {
  for (const header of ["gzip", "deflate, GZIP;q=0.5", "*", "br;q=1.0, *;q=0.1", "x-gzip"])
    assert.ok(acceptsGzip(header), header);
  for (const header of [undefined, "", "br", "gzip;q=0", "gzip; q=0.00, *", "*;q=0", "gzipped"]) {
    assert.ok(!acceptsGzip(header), header);
  }
});
