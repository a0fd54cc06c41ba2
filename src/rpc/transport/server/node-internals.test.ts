/**
 * What the fast path and the reading in pieces expect of Node.js without its documentation promising it (ADR 99). A version that changes any of it fails
 * here, by name, before it fails as a connection that hangs.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createNetServer, type Socket } from "node:net";
import { test } from "node:test";
import { HANG_MS } from "../../../../test/support/until.ts";

const REQUEST = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}";

const TIMEOUT = { timeout: HANG_MS };

/** Both ends of a TCP connection whose server reads nothing yet. */
async function connected(): Promise<{ client: Socket; accepted: Socket; close: () => void }> {
  const listening = createNetServer({ pauseOnConnect: true });
  const accepted = once(listening, "connection");
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const client = connect((listening.address() as AddressInfo).port, "127.0.0.1");
  const [socket] = (await accepted) as [Socket];
  return {
    client,
    accepted: socket,
    close() {
      client.destroy();
      socket.destroy();
      listening.close();
    },
  };
}

/** A server of node:http whose own listener is taken from its event, as `http-listener.ts` does. */
function detachedServer() {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => response.end("done"));
  });
  const listeners = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");
  return { server, listeners };
}

test("node:http has one listener of connections, which serves a socket it is called with", TIMEOUT, async () => {
  const { client, accepted, close } = await connected();
  const { server, listeners } = detachedServer();
  assert.equal(listeners.length, 1);
  listeners[0]!.call(server, accepted);
  accepted.resume();
  client.write(REQUEST);
  const [answer] = (await once(client, "data")) as [Buffer];
  assert.match(String(answer), /^HTTP\/1\.1 200 OK\r\n[\s\S]*done/);
  close();
});

test(
  "a socket with a second listener of its data is read by its own push, which may be replaced",
  TIMEOUT,
  async () => {
    const { client, accepted, close } = await connected();
    const { server, listeners } = detachedServer();
    const pushed: number[] = [];
    const { push } = accepted;
    accepted.push = (bytes: Buffer | null) => {
      if (bytes !== null) pushed.push(bytes.length);
      return push.call(accepted, bytes);
    };
    listeners[0]!.call(server, accepted);
    accepted.on("data", () => {});
    accepted.resume();
    client.write(REQUEST);
    await once(client, "data");
    assert.equal(
      pushed.reduce((sum, bytes) => sum + bytes, 0),
      REQUEST.length,
    );
    close();
  },
);

test("node:http resumes the socket of a body that is read by its resume, which may be replaced", TIMEOUT, async () => {
  const { client, accepted, close } = await connected();
  const { server, listeners } = detachedServer();
  let resumes = 0;
  const { resume } = accepted;
  accepted.resume = () => {
    resumes++;
    return resume.call(accepted);
  };
  listeners[0]!.call(server, accepted);
  accepted.on("data", () => {});
  resume.call(accepted);
  resumes = 0;
  client.write(REQUEST);
  await once(client, "data");
  assert.ok(resumes > 0);
  close();
});
