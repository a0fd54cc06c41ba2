import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { type TraceText, textString } from "../../evm/tracing/json-writer.ts";
import { movableTexts } from "./movable-texts.ts";

/** What another thread receives of `value`, and how many buffers moved there. */
function sent<T extends Parameters<typeof movableTexts>[0]>(traces: T): { value: T; moved: number } {
  const { value, buffers } = movableTexts(traces);
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(value, buffers as ArrayBuffer[]);
  const message = receiveMessageOnPort(port2) as { message: T };
  port1.close();
  for (const buffer of buffers) assert.equal(buffer.byteLength, 0, "moved, not copied");
  return { value: message.message, moved: buffers.length };
}

const long = (fill: string, length = 1 << 20) => fill.repeat(length);

test("short texts cross as they are", () => {
  const traces = [
    { txHash: "0x1", result: "{}" },
    { txHash: "0x2", error: "script" },
  ];
  assert.deepEqual(sent("{}"), { value: "{}", moved: 0 });
  assert.deepEqual(sent(traces), { value: traces, moved: 0 });
});

test("a long text moves as bytes", () => {
  const text = long("é\u{1f600}a");
  const { value, moved } = sent<TraceText>(text);
  assert.equal(moved, 1);
  assert.equal(textString(value), text);
});

test("many short texts share the buffers they move in, and keep their order and errors", () => {
  const items = Array.from({ length: 5000 }, (_, i) => ({
    txHash: `0x${i}`,
    result: `"ü${i}"`.repeat(100),
  }));
  type Item = { readonly txHash: string; readonly result?: TraceText; readonly error?: string };
  const { value, moved } = sent<readonly Item[]>([...items, { txHash: "0xe", error: "script" }]);
  assert.ok(moved > 0 && moved < 20, `${moved} buffers`);
  assert.deepEqual(
    value.map(({ result, error }) => (result === undefined ? error : textString(result))),
    [...items.map(({ result }) => result), "script"],
  );
});

test("pieces of a tracer move without a copy", () => {
  const pieces = [Buffer.from(long("a")), new Uint8Array(1 << 20).fill(0x62)];
  const { value, moved } = sent<TraceText>(pieces.map((piece) => Uint8Array.from(piece)));
  assert.equal(moved, 2);
  assert.equal(textString(value), `${long("a")}${long("b")}`);
});
