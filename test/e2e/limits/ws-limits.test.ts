import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { on, once } from "node:events";
import { after, before, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ManualTimers } from "../../support/base/telemetry/manual-timers.ts";
import { openWs, request } from "../../support/clients.ts";
import { assertRejectionCounted, awaitRejection, metricOf, rejections, WITH_METRICS } from "../../support/metrics.ts";
import { openRaw, type RawSocket } from "../../support/raw-socket.ts";
import { callHttp } from "../../support/rpc/rpc-client.ts";
import { NEEDS_SOLO } from "../../support/test-engine.ts";
import { NEEDS_ONE_PROCESS, startTestNode, type TestNode } from "../../support/test-node.ts";
import { until } from "../../support/until.ts";
import { slowBatch, zerosCall } from "../../support/zeros-call.ts";

const CHAIN_ID = request("eth_chainId");
const BLOCKS_MAX = 2000;
const PING_INTERVAL_MS = 30_000;
const timers = new ManualTimers();
let node: TestNode;
before(async () => {
  node = await startTestNode({
    dev: true,
    hooks: NEEDS_ONE_PROCESS ? {} : { timers },
    settings: {
      "json-rpc.body-limit": "256KiB",
      ...WITH_METRICS,
    },
    limits: {
      server: {
        wsConnectionsMax: 10,
        wsPingIntervalMs: PING_INTERVAL_MS,
        socketCallsMax: 4,
        socketPauseBytes: 64 << 10,
        notificationBufferBytesMax: 100_000,
      },
    },
  });
});
after(() => node.stop());

const assertCounted = (reason: string, work: () => Promise<void>) => assertRejectionCounted(node, "ws", reason, work);

async function assertServes(): Promise<void> {
  assert.equal((await callHttp(node.url, "eth_chainId")).result, "0x7a69");
}

const UPGRADE =
  "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n`;

/** A WebSocket whose frames the test writes itself. */
async function openFrames({ wsUrl } = node): Promise<RawSocket> {
  const raw = await openRaw(wsUrl.replace("ws:", "http:"));
  raw.socket.write(`${UPGRADE}\r\n`);
  await raw.until("\r\n\r\n");
  return raw;
}

/** A masked frame with a mask of zeros, RFC 6455 section 5.2. */
function frame(firstByte: number, payload: Buffer | string = ""): Buffer {
  const bytes = Buffer.from(payload);
  const length = bytes.length < 126 ? [0x80 | bytes.length] : [0x80 | 126, bytes.length >> 8, bytes.length & 0xff];
  return Buffer.concat([Buffer.from([firstByte, ...length, 0, 0, 0, 0]), bytes]);
}

function fragments(count: number, payload: string): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => frame(0x00, payload)));
}

/** Status code of the close frame among what the server sent. */
function closeCodeIn(text: string): number | undefined {
  const bytes = Buffer.from(text.slice(text.indexOf("\r\n\r\n") + 4), "latin1");
  for (let at = 0; at + 2 <= bytes.length; ) {
    const length = bytes[at + 1]! & 0x7f;
    const [head, size] = length === 126 ? [4, bytes.readUInt16BE(at + 2)] : [2, length];
    if (bytes[at] === 0x88) return bytes.readUInt16BE(at + head);
    at += head + size;
  }
  return undefined;
}

test("a message in fragments of one byte is closed with a code after some thousands", () =>
  assertCounted("frame", async () => {
    const { socket, closed } = await openFrames();
    socket.write(Buffer.concat([frame(0x01, "["), fragments(3000, " ")]));
    assert.equal(closeCodeIn(await closed), 1008);
    await assertServes();
  }));

for (const [name, payload] of [
  ["of one byte", " "],
  ["without a byte", ""],
] as const) {
  test(`a client that goes on sending fragments ${name} is cut`, () =>
    assertCounted("frame", async () => {
      const { socket, closed } = await openFrames();
      const many = fragments(10_000, payload);
      socket.write(frame(0x01));
      // As much again whenever the node has read what was sent.
      const more = () => socket.writable && socket.write(many, more);
      more();
      await closed;
      await assertServes();
    }));
}

test("a message in a thousand fragments is one message", async () => {
  const { socket, until } = await openFrames();
  const pieces = CHAIN_ID.padEnd(1000).split("");
  const fragments = pieces.map((text, i) =>
    frame((i === 0 ? 0x01 : 0x00) | (i === pieces.length - 1 ? 0x80 : 0x00), text),
  );
  socket.write(Buffer.concat(fragments));
  await until("0x7a69");
  socket.destroy();
});

test("a connection that breaks the rules of WebSocket is closed with the code for it", () =>
  assertCounted("frame", async () => {
    const FIN_TEXT = 0x81;
    const tooLong = Buffer.from([FIN_TEXT, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    const cases: readonly (readonly [string, Buffer, number])[] = [
      ["not masked", Buffer.from([FIN_TEXT, 2, 0x7b, 0x7d]), 1002],
      ["a reserved bit", frame(0xc1, CHAIN_ID), 1002],
      ["a reserved opcode", frame(0x83, CHAIN_ID), 1002],
      ["a length of 2^63", tooLong, 1009],
      ["a frame over the limit", Buffer.from([FIN_TEXT, 0xff, 0, 0, 0, 0, 0, 5, 0, 0]), 1009],
      ["a continuation of nothing", frame(0x80, "x"), 1002],
      ["a control frame in pieces", frame(0x09), 1002],
      ["a control frame of 126 bytes", frame(0x89, "x".repeat(126)), 1002],
      ["text that is no UTF-8", frame(FIN_TEXT, Buffer.from([0xc3, 0x28])), 1007],
      ["a close frame with half a code", frame(0x88, "x"), 1002],
      ["a close code nobody may send", frame(0x88, Buffer.from([0x03, 0xed])), 1002],
    ];
    for (const [name, bytes, code] of cases) {
      const { socket, closed } = await openFrames();
      socket.write(bytes);
      assert.equal(closeCodeIn(await closed), code, name);
    }
    await assertServes();
  }));

test("a message in pieces over the limit is closed with a code, a thousand empty pieces too", () =>
  assertCounted("frame", async () => {
    const whole = await openFrames();
    const begin = frame(0x01, "x".repeat(60_000));
    const more = frame(0x00, "x".repeat(60_000));
    whole.socket.write(Buffer.concat([begin, more, more, more, more, more]));
    assert.equal(closeCodeIn(await whole.closed), 1009);

    const empty = await openFrames();
    empty.socket.write(Buffer.concat([frame(0x01), fragments(3000, "")]));
    assert.equal(closeCodeIn(await empty.closed), 1008);
    await assertServes();
  }));

test("ten thousand pings in one packet end their connection, and others are served", async () => {
  const { socket, closed } = await openFrames();
  socket.write(Buffer.concat(Array.from({ length: 10_000 }, () => frame(0x89))));
  await assertServes();
  assert.ok((await closed).length < 10_000, "most are not answered");
});

test("pings whose pongs nobody reads end their connection", async () => {
  const { socket } = await openFrames();
  socket.pause();
  const pings = Buffer.concat(Array.from({ length: 10 }, () => frame(0x89, "x".repeat(125))));
  let bytes = 0;
  while (!socket.closed) {
    socket.write(pings);
    bytes += pings.length;
    assert.ok(bytes < 100_000_000, `${bytes} bytes of pings were taken`);
    await nextTurn();
  }
});

test("upgrades with too many headers, two Hosts or no version are refused", async () => {
  const flood = Array.from({ length: 4000 }, (_, i) => `Sec-WebSocket-Protocol: p${i}`).join("\r\n");
  for (const [headers, status] of [
    [`${flood}\r\n`, 431],
    ["Host: evil.example\r\n", 400],
    ["Sec-WebSocket-Version: 7\r\n", 400],
    ["Sec-WebSocket-Key: x\r\n", 400],
  ] as const) {
    const { socket, closed } = await openRaw(node.wsUrl.replace("ws:", "http:"));
    socket.write(`${UPGRADE}${headers}\r\n`);
    assert.equal(/^HTTP\/1.1 (\d+)/.exec(await closed)?.[1], String(status));
  }
});

test("a WebSocket is served at the root alone, with any query", async () => {
  for (const [path, status] of [
    ["/", 101],
    ["/?any=query", 101],
    ["/nope", 404],
    ["/ws", 404],
    ["//", 404],
  ] as const) {
    const { socket, until } = await openRaw(node.wsUrl.replace("ws:", "http:"));
    socket.write(`${UPGRADE.replace("GET / ", `GET ${path} `)}\r\n`);
    assert.match(await until("\r\n"), new RegExp(`^HTTP/1.1 ${status} `), path);
    socket.destroy();
  }
});

test("a peer that answers no ping is gone after two, one that does stays", { skip: NEEDS_ONE_PROCESS }, () =>
  assertCounted("silent", async () => {
    const alive = await openWs(node.wsUrl);
    const silent = await openFrames();
    const pinged = once(alive, "ping");
    await timers.advance(PING_INTERVAL_MS);
    await pinged;
    // Its pong is before this call.
    alive.send(CHAIN_ID);
    await once(alive, "message");
    assert.ok(!silent.socket.closed);
    await timers.advance(PING_INTERVAL_MS);
    await silent.closed;
    assert.equal(alive.readyState, alive.OPEN);
    alive.terminate();
  }),
);

test("connections beyond the limit are refused with 503, and not kept half open", () =>
  assertCounted("connections", async () => {
    await whenNoneIsOpen();
    const open = await Promise.all(Array.from({ length: 10 }, () => openWs(node.wsUrl)));
    assert.equal(await metricOf(node, "rpc_connections", 'transport="ws"'), 10);
    const { socket, closed } = await openRaw(node.wsUrl.replace("ws:", "http:"));
    socket.write(`${UPGRADE}\r\n`);
    assert.match(await closed, /^HTTP\/1.1 503 /);
    for (const ws of open) ws.terminate();
    await whenNoneIsOpen();
  }));

test(
  "a client that asks and does not read: nothing more is read from it, then it is cut",
  {
    skip: NEEDS_ONE_PROCESS,
  },
  () =>
    assertCounted("slowReader", async () => {
      const { socket, closed } = await openFrames();
      const untilCounted = await awaitRejection(node, "ws", "slowReader");
      socket.pause();
      // Each answer is 500 KB; the system keeps a few MB for the connection.
      for (let i = 0; i < 100; i++) socket.write(frame(0x81, zerosCall(250_000)));
      await timePassesUntil(untilCounted());
      const answered = await metricOf(node, "rpc_request_duration_seconds_count", 'method="eth_call"');
      socket.resume();
      await closed;
      assert.ok(answered < 100, `${answered} calls were run for a client that reads no answer`);
    }),
);

test("answers beyond the send buffer end the connection", async () => {
  const other = await startTestNode({
    dev: true,
    settings: WITH_METRICS,
    limits: { server: { socketSendBufferBytesMax: 4 << 20 } },
  });
  try {
    const { socket, closed } = await openFrames(other);
    const untilCounted = await awaitRejection(other, "ws", "sendBuffer");
    socket.pause();
    // Any one of them may be as large as its own limit.
    const batch = frame(0x81, slowBatch(12, 1_000_000));
    socket.write(Buffer.concat([batch, batch]));
    await untilCounted();
    socket.resume();
    await closed;
  } finally {
    await other.stop();
  }
});

test("a subscriber that does not read is cut, and the others get every event in order", { skip: NEEDS_SOLO }, () =>
  assertCounted("notifications", async () => {
    // A hundred heads a block: how much of them the system stores differs.
    const deaf = await openFrames();
    for (let i = 0; i < 100; i++) {
      deaf.socket.write(frame(0x81, request("eth_subscribe", ["newHeads"])));
    }
    const attentive = await openWs(node.wsUrl);
    const messages = on(attentive, "message");
    const nextMessage = async () => JSON.parse((await messages.next()).value[0].toString());
    attentive.send(request("eth_subscribe", ["newHeads"]));
    await nextMessage();
    deaf.socket.pause();
    const before = await rejections(node, "ws", "notifications");
    let count = 0;
    for (; count < BLOCKS_MAX && (await rejections(node, "ws", "notifications")) === before; count++)
      node.produceBlock();
    const numbers: number[] = [];
    while (numbers.length < count) numbers.push(Number((await nextMessage()).params.result.number));
    assert.deepEqual(
      numbers,
      Array.from({ length: count }, (_, i) => numbers[0]! + i),
    );
    attentive.terminate();
    deaf.socket.resume();
    await timePassesUntil(deaf.closed);
  }),
);

async function whenNoneIsOpen(): Promise<void> {
  await until(
    async () => (await metricOf(node, "rpc_connections", 'transport="ws"')) === 0,
    "the end of every WebSocket",
  );
}

/** Moves the clock by an interval of pings after the other, until `event`. */
async function timePassesUntil(event: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = event.finally(() => {
    isOver = true;
  });
  while (!isOver) await timers.advance(PING_INTERVAL_MS);
  await over;
}
