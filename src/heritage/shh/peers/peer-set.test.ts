import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { encodeRlpListOf } from "../../../base/primitives/rlp.ts";
import { type SealedEnvelope, sealEnvelope } from "../envelope.ts";
import { EnvelopePool } from "../envelope-pool.ts";
import { Identities } from "../identities.ts";
import { Whisper } from "../whisper.ts";
import { encodePacket, PACKET, PACKET_BYTES_MAX, PacketReader, type Peer } from "./peer.ts";
import { PeerSet } from "./peer-set.ts";

const NOW_S = 1_000_000;
const RATE = 1 << 20;

function openNode(poolBytesMax = 1 << 26) {
  const clock = { ms: 0 };
  const offences: string[] = [];
  const whisper = new Whisper(
    { poolBytesMax, filtersMax: 10, filterIdleMs: 1 },
    {
      identities: new Identities({ identitiesMax: 1, secret: new Uint8Array(32) }, undefined),
      nowSeconds: () => NOW_S,
      nowMs: () => clock.ms,
      newFilterId: () => "0x1",
      findWork: async () => ({ nonce: 0n, bits: 0 }),
      onFailure: (error) => assert.fail(String(error)),
    },
  );
  const peers = new PeerSet(
    { bytesPerSecondMax: RATE, peersMax: 3, banMs: 60_000 },
    {
      whisper,
      nowMs: () => clock.ms,
      onOffence: (id, reason) => offences.push(`${id} ${reason}`),
    },
  );
  return { whisper, peers, clock, offences };
}

type Node = ReturnType<typeof openNode>;

/** The other end of a stream: it collects what it is sent, and reads as long as `isReading`. */
function connect({ peers }: Node, id: string) {
  const end = { sent: [] as Uint8Array[], isReading: true, isClosed: false };
  const peer = peers.connect(id, {
    send(bytes) {
      end.sent.push(bytes);
      return end.isReading;
    },
    close() {
      end.isClosed = true;
    },
  });
  return { peer: peer as Peer, end };
}

const envelope = (index: number, changes: Partial<SealedEnvelope> = {}) =>
  sealEnvelope({
    expiry: NOW_S + 100,
    ttl: 100,
    topics: [],
    nonce: 0n,
    data: Buffer.from(`message ${index}`),
    ...changes,
  });

const status = encodePacket({ code: PACKET.status, payload: Uint8Array.of(2) });
const messages = (...envelopes: SealedEnvelope[]) =>
  encodePacket({
    code: PACKET.messages,
    payload: encodeRlpListOf(envelopes.map(({ rlp }) => rlp)),
  });

/** Joins two nodes by streams whose bytes move when `settle` is called. */
function link(a: Node, b: Node, names: readonly [string, string]) {
  const queues: [Uint8Array[], Uint8Array[]] = [[], []];
  const stream = (queue: Uint8Array[]) => ({
    send: (bytes: Uint8Array) => queue.push(bytes) > 0,
    close: () => assert.fail("honest peers stay connected"),
  });
  const atA = a.peers.connect(names[1], stream(queues[0]))!;
  const atB = b.peers.connect(names[0], stream(queues[1]))!;
  return {
    moved: 0,
    settle() {
      for (const [queue, peer] of [
        [queues[0], atB],
        [queues[1], atA],
      ] as const) {
        for (const bytes of queue.splice(0)) {
          this.moved += bytes.length;
          peer.received(bytes);
        }
      }
    },
  };
}

describe("PacketReader", () => {
  test("packets come out whole however the stream is cut", () => {
    const packet = fc
      .tuple(fc.nat(255), fc.uint8Array({ maxLength: 300 }))
      .map(([code, payload]) => ({ code, payload }));
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 8 }), fc.array(fc.nat(60)), (packets, cuts) => {
        const stream = Buffer.concat(packets.map(encodePacket));
        const reader = new PacketReader();
        const found: unknown[] = [];
        let at = 0;
        for (const cut of [...cuts, stream.length]) {
          for (const { code, payload } of reader.push(stream.subarray(at, at + cut))!) {
            found.push({ code, payload: new Uint8Array(payload) });
          }
          at += cut;
        }
        assert.deepEqual(found, packets);
      }),
    );
  });

  test("lengths of 0 and above the limit are no packets", () => {
    for (const length of [0, PACKET_BYTES_MAX + 1, 0xffffffff]) {
      const head = Buffer.alloc(4);
      head.writeUInt32BE(length);
      assert.equal(new PacketReader().push(head), undefined);
    }
  });
});

describe("PeerSet", () => {
  test("three nodes in a line: each gets every envelope once, and nothing is sent back", () => {
    const [a, b, c] = [openNode(), openNode(), openNode()];
    const [left, right] = [link(a, b, ["a", "b"]), link(b, c, ["b", "c"])];
    let arrivals = 0;
    c.whisper.onEnvelope(() => arrivals++);
    const posted = Array.from({ length: 1_000 }, (_, i) => envelope(i));
    for (const each of posted) a.whisper.receive(each);
    for (let round = 0; round < 4; round++) {
      for (const { peers } of [a, b, c]) peers.flush();
      left.settle();
      right.settle();
    }
    assert.equal(arrivals, posted.length);
    const bytes = posted.reduce((sum, { rlp }) => sum + rlp.length, 0);
    for (const { moved } of [left, right]) assert.ok(moved < bytes + 200, `${moved} of ${bytes}`);
  });

  test("a peer that connects later gets what is in the pool", () => {
    const node = openNode();
    node.whisper.receive(envelope(1));
    const { end } = connect(node, "late");
    assert.equal(end.sent.length, 2);
  });

  const bad: readonly (readonly [string, readonly Uint8Array[], string])[] = [
    ["no packet", [Buffer.from("GET / HTTP/1.1\r\n\r\n")], "packet"],
    ["another code", [status, encodePacket({ code: 9, payload: new Uint8Array(1) })], "packet"],
    ["messages before its status", [messages(envelope(1))], "packet"],
    ["another version", [encodePacket({ code: 0, payload: Uint8Array.of(6) })], "version"],
    ["no list", [status, encodePacket({ code: 1, payload: Uint8Array.of(1) })], "envelope"],
    ["a list that is cut", [status, encodePacket({ code: 1, payload: Uint8Array.of(0xc5, 1) })], "envelope"],
    ["bytes after the list", [status, encodePacket({ code: 1, payload: Uint8Array.of(0xc0, 1) })], "envelope"],
    ["no envelope", [status, encodePacket({ code: 1, payload: Uint8Array.of(0xc1, 1) })], "envelope"],
    ["an envelope of the future", [status, messages(envelope(1, { expiry: NOW_S + 121 }))], "envelope"],
    ["a ttl of 0", [status, messages(envelope(1, { ttl: 0 }))], "envelope"],
    ["a ttl above a week", [status, messages(envelope(1, { ttl: 604_801 }))], "envelope"],
    ["too much data", [status, messages(envelope(1, { data: new Uint8Array(70_000) }))], "envelope"],
  ];
  for (const [name, chunks, reason] of bad) {
    test(`a peer that sends ${name} is dropped and banned for a while; others are not`, () => {
      const node = openNode();
      const honest = connect(node, "honest");
      const { peer, end } = connect(node, "bad");
      for (const chunk of chunks) peer.received(chunk);
      assert.equal(end.isClosed, true);
      assert.deepEqual(node.offences, [`bad ${reason}`]);
      assert.equal(connect(node, "bad").peer, undefined);
      assert.equal(honest.end.isClosed, false);
      assert.deepEqual(node.peers.ids(), ["honest"]);
      assert.equal(node.whisper.pool.size, 0);
      node.clock.ms += 60_000;
      assert.notEqual(connect(node, "bad").peer, undefined);
    });
  }

  test("no bytes bring a node down, and after an offence nothing is read any more", () => {
    const good = Buffer.concat([status, messages(envelope(1), envelope(2))]);
    const mutation = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 5 });
    fc.assert(
      fc.property(mutation, (changes) => {
        const node = openNode();
        const bytes = Buffer.from(good);
        for (const [at, value] of changes) bytes[at] = value;
        const { peer, end } = connect(node, "x");
        peer.received(bytes);
        assert.equal(end.isClosed, node.offences.length === 1);
        peer.received(messages(envelope(3)));
        if (end.isClosed) assert.ok(!node.whisper.pool.has(envelope(3).hash));
      }),
      { numRuns: 500 },
    );
  });

  test("expired envelopes are dropped without blame: clocks differ", () => {
    const node = openNode();
    const { peer, end } = connect(node, "x");
    peer.received(Buffer.concat([status, messages(envelope(1, { expiry: NOW_S - 1 }))]));
    assert.equal(end.isClosed, false);
    assert.equal(node.whisper.pool.size, 0);
  });

  test("a full pool does not take envelopes without work, and its sender is not blamed", () => {
    const node = openNode(100_000);
    const { peer, end } = connect(node, "x");
    peer.received(status);
    for (let i = 0; i < 400; i++) {
      peer.received(messages(envelope(i, { data: Buffer.alloc(500, i), nonce: BigInt(i) })));
    }
    assert.ok(node.whisper.pool.bytes <= 100_000);
    assert.equal(end.isClosed, false);
  });

  test("a peer that floods is banned; one that stays below the rate is not", () => {
    const node = openNode();
    const { peer, end } = connect(node, "flood");
    const steady = connect(node, "steady");
    for (const { peer: each } of [{ peer }, steady]) each.received(status);
    const chunk = messages(...Array.from({ length: 200 }, (_, i) => envelope(i, { data: Buffer.alloc(1000, i) })));
    let sent = 0;
    while (!end.isClosed) {
      peer.received(chunk);
      sent += chunk.length;
    }
    assert.ok(sent > 10 * RATE && sent < 11 * RATE);
    for (let s = 0; s < 60; s++) {
      node.clock.ms += 1_000;
      for (let bytes = chunk.length; bytes < RATE; bytes += chunk.length) steady.peer.received(chunk);
    }
    assert.deepEqual(node.offences, ["flood flood"]);
  });

  test("a peer that never reads costs no memory and is dropped after half a minute, but not banned", () => {
    const node = openNode();
    const { end } = connect(node, "deaf");
    end.isReading = false;
    for (let i = 0; i < 3_000; i++) {
      node.whisper.receive(envelope(i, { data: Buffer.alloc(1000, i), nonce: BigInt(i) }));
    }
    for (let second = 0; second < 30; second++) {
      node.peers.flush();
      node.peers.check();
      node.clock.ms += 1_000;
    }
    const bytes = end.sent.reduce((sum, { length }) => sum + length, 0);
    assert.ok(bytes < 300_000, `${bytes} bytes were written`);
    assert.equal(end.isClosed, false);
    node.clock.ms += 1_000;
    node.peers.check();
    assert.equal(end.isClosed, true);
    assert.deepEqual(node.offences, ["deaf slow"]);
    assert.equal(node.peers.isBanned("deaf"), false);
  });

  test("a silent peer is dropped; an idle one gets a sign of life", () => {
    const node = openNode();
    const { end } = connect(node, "x");
    node.clock.ms += 30_001;
    node.peers.check();
    assert.equal(end.sent.length, 2);
    node.clock.ms += 70_000;
    node.peers.check();
    assert.deepEqual(node.offences, ["x silent"]);
  });

  test("no more peers than the limit, and one stream each", () => {
    const node = openNode();
    for (const id of ["a", "b", "c"]) assert.notEqual(connect(node, id).peer, undefined);
    assert.equal(connect(node, "d").peer, undefined);
    assert.equal(connect(node, "a").peer, undefined);
    assert.equal(node.peers.size, 3);
  });

  test("the pool holds what the sum of all peers sends within its limit", () => {
    const pool = new EnvelopePool(50_000);
    for (let i = 0; i < 1_000; i++) {
      pool.add(envelope(i, { data: Buffer.alloc(300, i), nonce: BigInt(i) }), NOW_S);
      assert.ok(pool.bytes <= 50_000);
    }
  });
});
