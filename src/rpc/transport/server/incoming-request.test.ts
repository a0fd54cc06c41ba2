/** HTTP clients that offer another protocol with each request: what they send to the letter, on each kind of port. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { makeCertificate, NO_OPENSSL } from "../../../../test/support/certificates.ts";
import { comparable } from "../../../../test/support/rpc/raw-http.ts";
import { TEST_REGISTRY } from "../../../../test/support/rpc/test-methods.ts";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import type { TlsMaterial } from "./listener.ts";
import { type RpcServer, startRpcServer } from "./server.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-upgrade-"));
const open: RpcServer[] = [];
after(async () => {
  await Promise.all(open.map((server) => server.close(0)));
  rmSync(folder, { recursive: true });
});

const BODY = '{"jsonrpc":"2.0","id":1,"method":"test_echo","params":["hello"]}';
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":"hello"}';
const LENGTH = `Content-Length: ${BODY.length}\r\n`;

/** Head and body as the client writes them, one after the other. */
const CALLS: Readonly<Record<string, string>> = {
  "java.net.http": `POST / HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\n${LENGTH}Host: 127.0.0.1:8545\r\nHTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA\r\nUpgrade: h2c\r\nUser-Agent: Java-http-client/17.0.15\r\nContent-Type: application/json\r\n\r\n`,
  "Apache HttpClient 5.4": `POST / HTTP/1.1\r\nAccept-Encoding: gzip, x-gzip, deflate\r\n${LENGTH}Content-Type: application/json; charset=UTF-8\r\nHost: 127.0.0.1:8545\r\nConnection: keep-alive\r\nUpgrade: TLS/1.2\r\nConnection: Upgrade\r\nUser-Agent: Apache-HttpClient/5.4 (Java/17.0.15)\r\n\r\n`,
  "curl --http2": `POST / HTTP/1.1\r\nHost: 127.0.0.1:8545\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\ncontent-type: application/json\r\n${LENGTH}\r\n`,
  "a POST that asks for WebSocket": `POST / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Type: application/json\r\n${LENGTH}\r\n`,
};

const OFFER = "Host: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n";

async function start(tls?: TlsMaterial) {
  const endpoint = { host: "127.0.0.1", port: 0, namespaces: ["test"] };
  const server = await startRpcServer(
    { http: endpoint, ws: endpoint, ...(tls && { tls }) },
    { registry: TEST_REGISTRY, modules: {}, timers: fatalTimers },
  );
  open.push(server);
  return server.urls as { readonly http: string; readonly ws: string };
}

/** Writes each of `pieces` in a turn of its own, and gives back what comes once it has `count` whole answers. */
function exchange(url: string, pieces: readonly string[], count: number): Promise<string[]> {
  const { hostname: host, port } = new URL(url);
  const isTls = /^(https|wss):/.test(url);
  return new Promise((resolve, reject) => {
    const socket: Socket = isTls
      ? connectTls({ host, port: Number(port), rejectUnauthorized: false })
      : connect(Number(port), host);
    socket.setNoDelay(true);
    socket.once(isTls ? "secureConnect" : "connect", async () => {
      for (const piece of pieces) {
        socket.write(piece);
        await setImmediate();
        await setImmediate();
      }
    });
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
      const answers = comparable(text);
      if (answers.length < count) return;
      socket.destroy();
      resolve(answers);
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`closed after: ${text}`)));
  });
}

const statusOf = (answer: string | undefined) => answer?.slice(9, 12);

for (const isTls of [false, true]) {
  const scheme = isTls ? "over TLS" : "without TLS";
  test(`an upgrade that nobody takes is ignored ${scheme}`, { skip: isTls && NO_OPENSSL }, async () => {
    const files = isTls ? makeCertificate(folder, "node") : undefined;
    const { http, ws } = await start(
      files && { cert: readFileSync(files.cert, "utf8"), key: readFileSync(files.key, "utf8"), clientCa: undefined },
    );
    for (const [name, head] of Object.entries(CALLS)) {
      const answers = await exchange(http, [head, BODY, head + BODY, head, BODY + head, BODY], 4);
      assert.deepEqual(answers.map(statusOf), ["200", "200", "200", "200"], name);
      for (const answer of answers) assert.equal(answer.split("\n").at(-1), ANSWER, name);
      assert.deepEqual((await exchange(ws, [head + BODY], 1)).map(statusOf), ["426"], name);
    }
    assert.deepEqual((await exchange(http, [`OPTIONS / HTTP/1.1\r\n${OFFER}\r\n`], 1)).map(statusOf), ["204"]);
    const get = `GET / HTTP/1.1\r\n${OFFER}\r\n`;
    assert.deepEqual((await exchange(http, [get, get], 2)).map(statusOf), ["200", "200"]);
    const [first = ""] = await exchange(http, [get + get], 1);
    assert.deepEqual([statusOf(first), first.includes("connection: close")], ["200", true]);
    const webSocket = `GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
    for (const url of [http, ws]) {
      assert.deepEqual((await exchange(url, [webSocket], 1)).map(statusOf), ["101"], url);
      const foreign = webSocket.replace("//localhost", "//evil.example");
      assert.deepEqual((await exchange(url, [foreign], 1)).map(statusOf), ["403"], url);
    }
  });
}

test("HTTP/2 without HTTP/1.1 before it ends with 400, as anything that is no HTTP/1.1", async () => {
  const { http } = await start();
  const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04\0\0\0\0\0";
  assert.deepEqual((await exchange(http, [preface], 1)).map(statusOf), ["400"]);
});
