import assert from "node:assert/strict";
import { test } from "node:test";
import * as ws from "ws";
import { textFrameHead } from "./ws-frame.ts";

/** Public in `ws`, but not in its types. */
const { Receiver } = ws as unknown as {
  readonly Receiver: new () => NodeJS.WritableStream;
};

/** The messages that `ws` reads from a stream of bytes. */
async function messagesIn(bytes: Buffer): Promise<string[]> {
  const messages: string[] = [];
  const receiver = new Receiver();
  receiver.on("message", (data: Buffer) => messages.push(data.toString()));
  await new Promise<void>((resolve) => receiver.end(bytes, () => resolve()));
  return messages;
}

test("textFrameHead begins a frame that holds the message, at every form of its length", async () => {
  const lengths = [0, 1, 125, 126, 127, 255, 256, 1_300, 32_768, 65_535, 65_536, 70_000, 1 << 20];
  const texts = lengths.map((length) => "x".repeat(length));
  const stream = Buffer.from(texts.map((text) => textFrameHead(text.length) + text).join(""), "latin1");
  assert.deepEqual(await messagesIn(stream), texts);
});

test("textFrameHead begins fragments of one message", async () => {
  const parts = ["a".repeat(10), "", "b".repeat(70_000), "c".repeat(200)];
  const stream = parts.map((part, i) => {
    const fragment = { isFirst: i === 0, isLast: i === parts.length - 1 };
    return textFrameHead(part.length, fragment) + part;
  });
  const bytes = Buffer.from(stream.join(""), "latin1");
  assert.deepEqual(await messagesIn(bytes), [parts.join("")]);
});
