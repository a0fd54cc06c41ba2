/** Every listener closes a connection whose other end falls silent, wherever that happens. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { makeCertificate, NO_OPENSSL } from "../../../../test/support/certificates.ts";
import {
  BEFORE_TLS,
  call,
  clientHello,
  closes,
  frame,
  opened,
  openWebSocket,
  post,
  SHORT_LIMITS,
  STAGES,
  type Stage,
} from "../../../../test/support/rpc/silent-connections.ts";
import { TEST_REGISTRY } from "../../../../test/support/rpc/test-methods.ts";
import { HANG_MS } from "../../../../test/support/until.ts";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { SILENT_OBSERVER } from "../dispatch/observer.ts";
import type { RpcLimits } from "../limits.ts";
import { type RpcServer, startRpcServer } from "./server.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-ends-"));
const open: RpcServer[] = [];
after(async () => {
  await Promise.all(open.map((server) => server.close(0)));
  rmSync(folder, { recursive: true });
});

/** Those of a client that does not read. */
const UNREAD: Readonly<Record<string, Stage>> = {
  "answers that are not read": (socket) => {
    socket.pause();
    for (let i = 0; i < 200; i++) socket.write(post(call("test_big", "0x20000")));
  },
  "answers over WebSocket that are not read": async (socket) => {
    await openWebSocket(socket);
    socket.pause();
    for (let i = 0; i < 200; i++) socket.write(frame(call("test_big", "0x20000")));
  },
};

/** A server and its connections that are open, by transport. */
async function start(isTls: boolean, limits: Partial<RpcLimits> = {}, timers: Timers = fatalTimers) {
  const counts = new Map<string, number>();
  let onCount = () => {};
  const observer = {
    ...SILENT_OBSERVER,
    connections(transport: string, count: number) {
      counts.set(transport, count);
      onCount();
    },
  };
  const files = isTls ? makeCertificate(folder, "node") : undefined;
  const tls = files && {
    cert: readFileSync(files.cert, "utf8"),
    key: readFileSync(files.key, "utf8"),
    clientCa: undefined,
  };
  const endpoint = { host: "127.0.0.1", port: 0, namespaces: ["test"] };
  const server = await startRpcServer(
    {
      http: endpoint,
      ws: endpoint,
      ...(isTls ? { tls } : { ipc: { path: join(folder, `node-${open.length}.ipc`) } }),
      limits: { ...SHORT_LIMITS, ...limits },
    } as Parameters<typeof startRpcServer>[0],
    { registry: TEST_REGISTRY, modules: {}, timers, observer },
  );
  open.push(server);
  const drained = () =>
    new Promise<void>((resolve) => {
      onCount = () => [...counts.values()].every((count) => count === 0) && resolve();
      onCount();
    });
  return { urls: server.urls, drained };
}

for (const isTls of [false, true]) {
  const scheme = isTls ? "with TLS" : "without TLS";
  test(`connections that fall silent are closed ${scheme}`, {
    skip: isTls && NO_OPENSSL,
    timeout: HANG_MS,
    concurrency: true,
  }, async (t) => {
    const { urls, drained } = await start(isTls);
    const hello = await clientHello();
    const ends: Promise<void>[] = [];
    for (const kind of ["http", "ws"] as const) {
      const url = urls[kind]!;
      if (isTls) {
        for (const [name, stage] of Object.entries(BEFORE_TLS)) {
          ends.push(
            t.test(`${kind}: ${name}`, async () => {
              const socket = await opened(url, false);
              const closed = closes(socket);
              stage(socket, hello);
              await closed;
            }),
          );
        }
      }
      for (const [name, stage] of Object.entries(STAGES)) {
        ends.push(
          t.test(`${kind}: ${name}`, async () => {
            const socket = await opened(url, isTls);
            const closed = closes(socket);
            await stage(socket);
            await closed;
          }),
        );
      }
    }
    await Promise.all(ends);
    await drained();
    for (const kind of ["http", "ws"] as const) {
      for (const [name, stage] of Object.entries(UNREAD)) {
        if (kind === "ws" && stage === UNREAD["answers that are not read"]) continue;
        await t.test(`${kind}: ${name}`, async () => {
          const socket = await opened(urls[kind]!, isTls);
          await stage(socket);
          await drained();
          socket.destroy();
        });
      }
    }
    if (urls.ipc === undefined) return;
    for (const text of ["{", call("test_echo", "hello").slice(0, -5), "] "]) {
      await t.test(`ipc: ${text}`, async () => {
        // Half open, its end does not answer that of the other.
        const socket = connect({ path: urls.ipc!, allowHalfOpen: true });
        await once(socket, "connect");
        socket.resume().write(text);
        await drained();
        socket.destroy();
      });
    }
  });
}

test("with TLS, handshake and first request together have the time of a request", {
  skip: NO_OPENSSL,
  timeout: HANG_MS,
}, async () => {
  const timers = new ManualTimers();
  // So long that node:http, which has its own clock, ends nothing.
  const httpHeadersTimeoutMs = 600_000;
  const { urls, drained } = await start(true, { httpHeadersTimeoutMs }, timers);
  for (const isServed of [false, true]) {
    const tcp = await opened(urls.http!, false);
    await timers.advance(httpHeadersTimeoutMs - 1_000);
    const socket = connectTls({ socket: tcp, rejectUnauthorized: false });
    socket.on("error", () => {});
    await once(socket, "secureConnect");
    if (isServed) {
      socket.write(post(call("test_echo", "hello")));
      await once(socket, "data");
    }
    const closed = closes(socket);
    await timers.advance(1_000);
    // A connection that was served has the time of an idle one.
    if (isServed) {
      assert.equal(socket.closed, false);
      socket.destroy();
    }
    await closed;
  }
  await drained();
});

/** Of one listener. */
const SMALL_LIMIT = 20;

for (const isTls of [false, true]) {
  test(`silent connections of one address, three times the limit, leave others served ${isTls ? "with" : "without"} TLS`, {
    skip: isTls && NO_OPENSSL,
    timeout: HANG_MS,
  }, async () => {
    const { urls, drained } = await start(isTls, { httpConnectionsMax: SMALL_LIMIT });
    const { port } = new URL(urls.http!);
    const silent: Socket[] = [];
    for (let i = 0; i < 3 * SMALL_LIMIT; i++) silent.push((await opened(urls.http!, isTls)).resume());
    const options = { host: "127.0.0.1", port: Number(port), localAddress: "127.0.0.2" };
    const honest = isTls ? connectTls({ ...options, rejectUnauthorized: false }) : connect(options);
    honest.end(post(call("test_echo", "hello")));
    let answer = "";
    for await (const chunk of honest) answer += chunk;
    assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*"result":"hello"/);
    await Promise.all(silent.map(closes));
    await drained();
  });
}
