import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { callHttp } from "../../../../test/support/rpc/rpc-client.ts";
import { boolean, jsonInteger } from "../codec.ts";
import { createRegistry, defineMethod } from "../dispatch/method.ts";
import { startRpcServer } from "./server.ts";

/** Words that client and server share. */
const SENT = 0;
const ANSWERED = 1;
const HELD = 2;

/** Only where nothing comes any more. */
const WAIT_MS = 60_000;

/**
 * A client in a thread of its own, since calls of the test hold the thread of the server: over one connection a call that holds the server until the
 * client has sent over others what is next, a short call and long ones. It notes when the short one is answered.
 */
const CLIENT = `
  const { connect } = require("node:net");
  const { once } = require("node:events");
  const { workerData: { url, words, bodies } } = require("node:worker_threads");
  const { port, hostname, host } = new URL(url);
  const request = (body) =>
    "POST / HTTP/1.1\\r\\nHost: " + host + "\\r\\nContent-Type: application/json\\r\\nContent-Length: " + body.length + "\\r\\n\\r\\n" + body;
  (async () => {
    const sockets = bodies.map(() => connect({ port: Number(port), host: hostname, noDelay: true }));
    for (const socket of sockets) if (socket.connecting) await once(socket, "connect");
    sockets[0].on("data", () => sockets[0].destroy());
    sockets[1].on("data", () => {
      Atomics.store(words, ${ANSWERED}, 1);
      Atomics.notify(words, ${ANSWERED});
      sockets[1].destroy();
    });
    const others = sockets.slice(2);
    for (const socket of others) socket.on("data", () => socket.destroy());
    sockets[0].write(request(bodies[0]));
    Atomics.wait(words, ${HELD}, 0, ${WAIT_MS});
    sockets[1].write(request(bodies[1]));
    for (const [i, socket] of others.entries()) socket.write(request(bodies[2 + i]));
    Atomics.store(words, ${SENT}, 1);
    Atomics.notify(words, ${SENT});
  })();
`;

const call = (id: number, method: string) => `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":[]}`;

/** What is called before, and what arrives after the short call. */
const LONG = {
  "a heavy call": { before: "test_spin", bodies: [call(3, "test_long")] },
  "a batch": { before: "test_short", bodies: [`[${call(3, "test_waiting")}]`] },
  "a heavy call after a short one": { before: "test_short", bodies: [call(3, "test_brief"), call(4, "test_long")] },
};

const timers = new ManualTimers();

/** Work that takes so long by the clock of the server. */
function spin(milliseconds: number): boolean {
  timers.jump(milliseconds);
  return true;
}

for (const [name, { before, bodies }] of Object.entries(LONG)) {
  test(`fast HTTP: a short call is answered before ${name} that arrived in the same turn has run`, async () => {
    const words = new Int32Array(new SharedArrayBuffer(12));
    /** Whether the other thread sets the word, which this one waits for. */
    const waitFor = (word: number) => Atomics.wait(words, word, 0, WAIT_MS) !== "timed-out";
    const seen: boolean[] = [];
    const hold = () => {
      Atomics.store(words, HELD, 1);
      Atomics.notify(words, HELD);
      return waitFor(SENT);
    };
    const long = () => {
      seen.push(waitFor(ANSWERED));
      return true;
    };
    const registry = createRegistry([
      defineMethod({ name: "test_hold", params: {}, result: boolean, handle: hold }),
      defineMethod({ name: "test_short", params: {}, result: jsonInteger, handle: () => 1 }),
      defineMethod({ name: "test_long", params: {}, result: boolean, heavy: true, handle: long }),
      // So long that the next heavy call is expected to be long.
      defineMethod({ name: "test_spin", params: {}, result: boolean, heavy: true, handle: () => spin(10) }),
      // So short that it is not.
      defineMethod({ name: "test_brief", params: {}, result: boolean, heavy: true, handle: () => spin(1) }),
      defineMethod({ name: "test_waiting", params: {}, result: boolean, handle: long }),
    ]);
    const http = { host: "127.0.0.1", port: 0, namespaces: ["test"] };
    const server = await startRpcServer({ http }, { registry, modules: {}, timers });
    await callHttp(server.urls.http!, before);
    const sent = [call(1, "test_hold"), call(2, "test_short"), ...bodies];
    const client = new Worker(CLIENT, { eval: true, workerData: { url: server.urls.http, words, bodies: sent } });
    await once(client, "exit");
    await server.close();
    assert.deepEqual(seen, [true]);
  });
}
