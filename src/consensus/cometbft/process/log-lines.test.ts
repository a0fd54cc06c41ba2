import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { readLines } from "./output.ts";

async function linesOf(chunks: readonly string[], charsMax: number): Promise<readonly string[]> {
  const stream = new PassThrough();
  const lines: string[] = [];
  readLines(stream, (line) => lines.push(line), charsMax);
  for (const chunk of chunks) stream.write(Buffer.from(chunk, "utf8"));
  stream.end();
  await once(stream, "end");
  return lines;
}

test("lines are complete however the output is split, and the last one needs no line feed", async () => {
  const text = "one\ntwo ü\n\nthree";
  const expected = ["one", "two ü", "three"];
  assert.deepEqual(await linesOf([text], 10), expected);
  assert.deepEqual(await linesOf([...text], 10), expected);
});

test("of a line that is too long only its beginning is held, and the next line is read", async () => {
  const long = Array.from({ length: 1_000 }, () => "0123456789");
  assert.deepEqual(await linesOf([...long, "\nnext\n"], 25), ["0123456789012345678901234", "next"]);
});
