import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { describe, test } from "node:test";
import { piecesOf, SendQueue } from "./send-queue.ts";

/** A socket whose client reads only when the test says so. */
function slowSocket() {
  let accept: (() => void) | undefined;
  const chunks: Buffer[] = [];
  const socket = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      accept = done;
    },
  });
  return {
    socket: socket as ConstructorParameters<typeof SendQueue>[0],
    text: () => Buffer.concat(chunks).toString(),
    /** The client reads a chunk. */
    async read() {
      const done = accept;
      accept = undefined;
      done?.();
      await new Promise(setImmediate);
    },
  };
}

const pieces = (text: string) => Array.from(text, (letter) => [Buffer.from(letter)]);

describe("SendQueue", () => {
  test("writes no more than there is room for, and the rest as the client reads", async () => {
    const slow = slowSocket();
    const sent: number[] = [];
    const queue: SendQueue = new SendQueue(slow.socket, 3, () => sent.push(queue.unsentBytes));
    queue.push(pieces("abcdefgh"));
    assert.equal(slow.socket.writableLength, 3);
    assert.equal(queue.unsentBytes, 8);
    while (queue.unsentBytes > 0) await slow.read();
    assert.equal(slow.text(), "abcdefgh");
    assert.deepEqual(sent, [7, 6, 5, 4, 3, 2, 1, 0]);
    assert.equal(queue.isEmpty, true);
  });

  test("sends messages one after the other, and says when each is sent", async () => {
    const slow = slowSocket();
    const queue = new SendQueue(slow.socket, 2, () => {});
    const unsent: number[] = [];
    queue.push(pieces("abc"), () => unsent.push(queue.unsentBytes));
    queue.push(pieces("de"), () => unsent.push(queue.unsentBytes));
    while (queue.unsentBytes > 0) await slow.read();
    assert.equal(slow.text(), "abcde");
    assert.deepEqual(unsent, [2, 0]);
  });

  test("sends nothing more once it is cleared", async () => {
    const slow = slowSocket();
    const queue = new SendQueue(slow.socket, 2, () => {});
    queue.push(pieces("abcdef"));
    queue.clear();
    while (slow.socket.writableLength > 0) await slow.read();
    assert.equal(slow.text(), "ab");
    assert.equal(queue.unsentBytes, 0);
  });
});

describe("piecesOf", () => {
  test("cuts the parts into pieces of 256 KiB, whatever their lengths", () => {
    const parts = ["é".repeat(200_000), new Uint8Array(0), new Uint8Array(300_000).fill(7), "end"];
    const cut = piecesOf(parts);
    const lengths = cut.map((piece) => piece.reduce((sum, { length }) => sum + length, 0));
    assert.deepEqual(lengths, [262_144, 262_144, 400_000 + 300_000 + 3 - 2 * 262_144]);
    assert.deepEqual(
      Buffer.concat(cut.flat()),
      Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part))),
    );
  });
});
