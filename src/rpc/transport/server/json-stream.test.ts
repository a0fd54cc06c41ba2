import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { JsonStream } from "./json-stream.ts";

test("JsonStream finds the same values however the bytes are cut", () => {
  const value = fc.oneof(
    fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
    fc.array(fc.jsonValue({ maxDepth: 3 })),
  );
  const gap = fc.constantFrom("", "\n", "  ", "\r\n\t");
  fc.assert(
    fc.property(
      fc.array(fc.tuple(value, gap), { maxLength: 6 }),
      fc.array(fc.nat(40), { maxLength: 30 }),
      (values, cuts) => {
        const bytes = Buffer.from(values.map(([item, after]) => JSON.stringify(item) + after).join(""));
        const stream = new JsonStream(10_000);
        const found: unknown[] = [];
        let at = 0;
        for (const cut of [...cuts, bytes.length]) {
          const chunk = bytes.subarray(at, at + cut);
          at += cut;
          for (const part of stream.push(chunk)!) found.push(JSON.parse(part.toString()));
        }
        assert.deepEqual(found, JSON.parse(JSON.stringify(values.map(([item]) => item))));
      },
    ),
  );
});

test("JsonStream gives up on a value beyond its size", () => {
  const stream = new JsonStream(10);
  assert.deepEqual(stream.push(Buffer.from("[1]"))?.length, 1);
  assert.equal(stream.push(Buffer.from(`["${"x".repeat(20)}`)), undefined);
});
