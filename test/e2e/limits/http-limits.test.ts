import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { after, before, test } from "node:test";
import { request } from "../../support/clients.ts";
import { assertRejectionCounted, awaitRejection, metricOf, WITH_METRICS } from "../../support/metrics.ts";
import { openRaw, rawPost } from "../../support/raw-socket.ts";
import { callHttp } from "../../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";
import { until } from "../../support/until.ts";

const CHAIN_ID = request("eth_chainId");
const TARGET = `0x${"aa".repeat(20)}`;
const CONNECTIONS = 12;

/** Real time, since timeouts of sockets are the system's: much longer than a client of this process needs for its first bytes. */
const LATE_MS = 1_000;
const IDLE_MS = 1_000;

/** A client of `node` is never late, even on a loaded machine; one of `strict` soon is. */
let node: TestNode;
let strict: TestNode;
before(async () => {
  const settings = {
    "json-rpc.body-limit": "256KiB",
    "json-rpc.connections-limit": String(CONNECTIONS),
    ...WITH_METRICS,
  };
  const limitsOf = (headersMs: number, messageMs: number, replyMs: number, idleMs: number) => ({
    server: {
      httpHeadersTimeoutMs: headersMs,
      messageTimeoutMs: messageMs,
      httpReplyTimeoutMs: replyMs,
      httpIdleTimeoutMs: idleMs,
    },
  });
  const hour = 3_600_000;
  node = await startTestNode({ dev: true, settings, limits: limitsOf(hour, hour, hour, hour) });
  strict = await startTestNode({ dev: true, settings, limits: limitsOf(LATE_MS, LATE_MS, LATE_MS, IDLE_MS) });
});
after(async () => {
  await node.stop();
  await strict.stop();
});

const assertCounted = (reason: string, work: () => Promise<void>, where = node) =>
  assertRejectionCounted(where, "http", reason, work);
const assertStrictCounted = (reason: string, work: () => Promise<void>) => assertCounted(reason, work, strict);

async function assertServes(): Promise<void> {
  assert.equal((await callHttp(node.url, "eth_chainId")).result, "0x7a69");
}

test("headers that come a byte at a time, and a body that does not come, end with 408, and others are served meanwhile", () =>
  assertStrictCounted("timeout", async () => {
    const open = () => openRaw(strict.url);
    const head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    const [silent, halfHead, halfBody, ...slow] = await Promise.all([open(), open(), open(), open(), open()]);
    halfHead.socket.write(head);
    halfBody.socket.write(rawPost(CHAIN_ID).slice(0, -5));
    let at = 0;
    const drip = setInterval(() => {
      for (const { socket } of slow) socket.write(head[at] ?? "x");
      at++;
    }, 20);
    try {
      // A client of it can be late on a loaded machine.
      const served = async () => (await callHttp(strict.url, "eth_chainId").catch(() => undefined))?.result;
      assert.equal(await until(served, "an answer beside them"), "0x7a69");
      assert.match(await halfHead.closed, /^HTTP\/1.1 408 /);
      assert.match(await halfBody.closed, /^HTTP\/1.1 408 /);
      assert.equal(await silent.closed, "");
      // One that sends its next byte before it has read the answer is reset, and does not see it.
      for (const { closed } of slow) assert.match(await closed, /^(?:HTTP\/1.1 408 |$)/);
    } finally {
      clearInterval(drip);
    }
  }));

test("an unused connection is closed", async () => {
  const { socket, closed } = await openRaw(strict.url);
  socket.write(rawPost(CHAIN_ID));
  // On a loaded machine the call itself may be late.
  assert.match(await closed, /^HTTP\/1\.1 (?:200 .*"0x7a69"|408 )/s);
});

test("a client that does not read its answer is cut, and the answer given up", () =>
  assertStrictCounted("slowReader", async () => {
    // 24 MB of answer: more than the system keeps for a connection.
    const batch = JSON.stringify(
      Array.from({ length: 12 }, () => ({
        jsonrpc: "2.0",
        id: 1,
        method: "eth_call",
        params: [{ to: TARGET }, "latest", { [TARGET]: { code: "0x620ffff05ff3" } }],
      })),
    );
    const untilCounted = await awaitRejection(strict, "http", "slowReader");
    const { socket, closed } = await openRaw(strict.url);
    socket.pause();
    socket.write(rawPost(batch));
    await untilCounted();
    socket.resume();
    const text = await closed;
    const length = Number(/content-length: (\d+)/.exec(text)?.[1]);
    assert.ok(text.length < length, `${text.length} of ${length} bytes came`);
    await assertServes();
  }));

test("a hundred megabytes are refused after a little, announced or not", () =>
  assertCounted("body", async () => {
    for (const headers of ["Content-Length: 100000000", "Transfer-Encoding: chunked"]) {
      const { socket, received, closed } = await openRaw(node.url);
      socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`);
      const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
      let sent = 0;
      while (!socket.destroyed && received() === "" && sent < 100_000_000) {
        if (!socket.writableNeedDrain) {
          socket.write(chunk);
          sent += chunk.length;
        }
        await new Promise(setImmediate);
      }
      assert.match(await closed, /^HTTP\/1.1 413 /, headers);
      assert.ok(sent < 20_000_000, `${sent} bytes were taken`);
    }
  }));

test("header blocks beyond 64 KiB are 431, seven thousand headers too; cookies of 60 KB are taken", () =>
  assertCounted("headers", async () => {
    const floods = [Array.from({ length: 7000 }, (_, i) => `X-${i}: ${i}`).join("\r\n"), `X: ${"x".repeat(100_000)}`];
    for (const headers of floods) {
      const { socket, closed } = await openRaw(node.url);
      socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`);
      assert.match(await closed, /^HTTP\/1.1 431 /);
    }
    const { socket, until } = await openRaw(node.url);
    socket.write(rawPost(CHAIN_ID, `Cookie: a=${"x".repeat(60_000)}\r\n`));
    assert.match(await until('"0x7a69"'), /^HTTP\/1.1 200 /);
    socket.destroy();
  }));

test("connections beyond the limit are told so with 503, beyond twice the limit closed", () =>
  assertCounted("connections", async () => {
    // The one that reads metrics stays open for a while.
    const held = await Promise.all(Array.from({ length: CONNECTIONS }, () => openRaw(node.url)));
    const refused = await openRaw(node.url);
    refused.socket.write(rawPost(CHAIN_ID));
    assert.match(await refused.closed, /^HTTP\/1.1 503 .*\r\nretry-after: 1\r\n/);
    assert.ok((await metricOf(node, "rpc_connections", 'transport="http"')) >= CONNECTIONS);
    const more = await Promise.all(Array.from({ length: CONNECTIONS + 5 }, () => openRaw(node.url)));
    assert.equal(await more.at(-1)!.closed, "");
    for (const { socket } of [...held, ...more]) socket.destroy();
    await until(
      async () => (await metricOf(node, "rpc_connections", 'transport="http"')) < CONNECTIONS,
      "the end of the connections",
    );
    await assertServes();
  }));

test("requests that two servers could read in two ways are refused and the connection closed", () =>
  assertCounted("malformed", async () => {
    const body = "0\r\n\r\n";
    const heads = [
      "Content-Length: 5\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding: chunked, identity",
      "Transfer-Encoding: xchunked",
      "Transfer-Encoding : chunked",
      "Content-Length: 5\r\nContent-Length: 6",
      "Content-Length: +5",
      "Content-Length: 5\r\n folded",
      "Content-Length: 5\nX: bare",
      "Host: evil.example",
    ];
    for (const head of heads) {
      const { socket, closed } = await openRaw(node.url);
      socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n${body}`);
      assert.match(await closed, /^HTTP\/1.1 4\d\d /, head);
    }
  }));

test("an upgrade to HTTP/2 is an offer that is not taken", async () => {
  const { socket, until } = await openRaw(node.url);
  socket.write(rawPost(CHAIN_ID, "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n"));
  assert.match(await until('"0x7a69"'), /^HTTP\/1.1 200 /);
  socket.destroy();
});

test("a body in chunks of one byte is cut off after some thousands", () =>
  assertCounted("chunks", async () => {
    const { socket, closed } = await openRaw(node.url);
    socket.write(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    socket.write("1\r\n \r\n".repeat(5000));
    await closed;
    await assertServes();
  }));

test("an upgrade on a connection that has ended already does not stop the node", async () => {
  const { socket, closed } = await openRaw(node.url);
  socket.end(
    "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n" +
      "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
  );
  await closed;
  await assertServes();
});

test("a body in a thousand chunks is one body", async () => {
  const padded = `${" ".repeat(2000)}${CHAIN_ID}`;
  const answer = await new Promise<string>((resolve, reject) => {
    const headers = { "content-type": "application/json", "transfer-encoding": "chunked" };
    const sent = httpRequest(node.url, { method: "POST", headers }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve(text));
    });
    sent.on("error", reject);
    for (let i = 0; i < padded.length; i += 2) sent.write(padded.slice(i, i + 2));
    sent.end();
  });
  assert.equal(JSON.parse(answer).result, "0x7a69");
});

test("calls in one packet are answered in their order, and what a closed connection sent is let go", async () => {
  const { socket, until } = await openRaw(node.url);
  socket.write(
    Array.from({ length: 50 }, (_, id) =>
      rawPost(`{"jsonrpc":"2.0","id":${id},"method":"eth_chainId"}`, "Accept: */*\r\n"),
    ).join(""),
  );
  const text = await until('"id":49,');
  const ids = [...text.matchAll(/"id":(\d+),/g)].map(([, id]) => Number(id));
  assert.deepEqual(
    ids,
    Array.from({ length: 50 }, (_, id) => id),
  );
  socket.destroy();
});
