import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fakeContext } from "../../test/support/cli/fake-context.ts";
import { listenMetrics } from "../node/observe/metrics-listener.ts";
import type { Readiness } from "../rpc/ports/node.ts";
import { runCli } from "./program.ts";

const home = mkdtempSync(join(tmpdir(), "evmint-ready-"));
after(() => rmSync(home, { recursive: true }));

async function ready(...args: readonly string[]) {
  const { context, output } = fakeContext();
  const code = await runCli(["ready", "--home", home, ...args], context);
  return { code, ...output };
}

const WITHOUT_IPC = ["--ipc.path", ""];
const overMetrics = (url: string) => [
  ...WITHOUT_IPC,
  "--metrics.enable",
  "--metrics.address",
  url.replace("http://", "").replace("/metrics", ""),
];

/** A node whose IPC socket answers each call with `answer`; undefined is no answer. */
async function listenSocket(answer: (method: string) => object | undefined) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("data", (text) => {
      const { id, method } = JSON.parse(String(text)) as { id: number; method: string };
      const found = answer(method);
      if (found !== undefined) socket.write(JSON.stringify({ jsonrpc: "2.0", id, ...found }));
    });
  });
  await new Promise<void>((listening) => server.listen(join(home, "evmint.ipc"), listening));
  return {
    close: () =>
      new Promise((closed) => {
        server.close(closed);
        for (const socket of sockets) socket.destroy();
      }),
  };
}

test("evmintd ready asks the socket of the home, and its exit code is the answer", async () => {
  let state: Readiness = { ready: true, head: 7 };
  const node = await listenSocket((method) => (method === "admin_readiness" ? { result: state } : undefined));
  try {
    const found = await ready();
    assert.deepEqual([found.code, JSON.parse(found.stdout)], [0, { ready: true, head: 7 }]);
    state = { ready: false, head: 7, reason: "catching up with the network" };
    const behind = await ready();
    assert.deepEqual([behind.code, behind.stdout], [1, ""]);
    assert.match(behind.stderr, /not ready: catching up with the network/);
  } finally {
    await node.close();
  }
});

test("evmintd ready --wait asks until the node is ready, and no longer than it may", async () => {
  let asked = 0;
  const node = await listenSocket(() => ({ result: { ready: ++asked > 2, head: asked } }));
  try {
    assert.equal((await ready("--wait", "30s")).code, 0);
    assert.equal(asked, 3);
    asked = -1_000_000;
    assert.equal((await ready("--wait", "300ms")).code, 1);
    assert.ok(asked <= -1_000_000 + 2);
    assert.equal((await ready("--wait", "soon")).code, 2);
  } finally {
    await node.close();
  }
});

test("evmintd ready takes no answer, an error and one that is no node's for not ready", async () => {
  const nobody = await ready();
  assert.equal(nobody.code, 1);
  assert.match(nobody.stderr, /ENOENT/);
  const answers: (object | undefined)[] = [
    { error: { code: -32601, message: "the method admin_readiness does not exist" } },
    { result: true },
    { result: { ready: "yes", head: 1 } },
    { result: { ready: true, head: -1 } },
    { result: { ready: true, head: 1, reason: {} } },
    undefined,
  ];
  for (const answer of answers) {
    const node = await listenSocket(() => answer);
    try {
      assert.equal((await ready()).code, 1, JSON.stringify(answer));
    } finally {
      await node.close();
    }
  }
});

test("evmintd ready asks /readyz where there is no socket", async () => {
  let isReady = true;
  const listener = await listenMetrics({
    address: { host: "127.0.0.1", port: 0 },
    allowedHosts: [],
    exposition: () => "",
    readiness: () => (isReady ? { ready: true, head: 9 } : { ready: false, head: 9, reason: "no quorum" }),
  });
  try {
    const args = overMetrics(listener.url);
    assert.deepEqual(await ready(...args), { code: 0, stdout: '{"ready":true,"head":9}\n', stderr: "" });
    // The address of a listener on all addresses is none to connect to.
    assert.equal((await ready(...args.slice(0, -1), args.at(-1)!.replace("127.0.0.1", "0.0.0.0"))).code, 0);
    isReady = false;
    const { code, stderr } = await ready(...args);
    assert.equal(code, 1);
    assert.match(stderr, /no quorum/);
    // It is no TLS that answers there.
    const overTls = ["--json-rpc.enable", "--json-rpc.address", args.at(-1)!, "--tls.cert", "c", "--tls.key", "k"];
    assert.equal((await ready(...WITHOUT_IPC, ...overTls)).code, 1);
  } finally {
    listener.close();
  }
  assert.match((await ready(...overMetrics(listener.url))).stderr, /ECONNREFUSED/);
  assert.equal((await ready(...WITHOUT_IPC)).code, 1);
  assert.equal((await ready(...overMetrics("127.0.0.1:0"))).code, 1);
});

test("evmintd ready reads no more of an answer than one may have", async () => {
  for (const body of [`{"ready":true,"head":1}${" ".repeat(100_000)}`, "<html>"]) {
    const server = createHttpServer((_request, response) => response.end(body));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const { port } = server.address() as AddressInfo;
    assert.equal((await ready(...overMetrics(`127.0.0.1:${port}`))).code, 1);
    server.close();
    server.closeAllConnections();
  }
});
