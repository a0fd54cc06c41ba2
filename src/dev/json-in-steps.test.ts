import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../test/support/fast-check.ts";
import { allAtOnce } from "../base/threads/in-slices.ts";
import { parseJsonInSteps } from "./json-in-steps.ts";

/** So much space that the text is not parsed in one piece. */
const PADDING = " ".repeat(40_000);
const parse = (text: string) => allAtOnce(parseJsonInSteps(Buffer.from(PADDING + text)));

test("parseJsonInSteps gives what JSON.parse gives", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.boolean(), (json, isIndented) => {
      const text = isIndented ? JSON.stringify(JSON.parse(json), null, "\t") : json;
      assert.deepEqual(parse(text), JSON.parse(text));
    }),
  );
  for (const text of [
    '{"__proto__":{"a":1},"b":2}',
    '{"a":1,"a":2}',
    '"\\\\"',
    '["\\"","\\\\\\"",{}]',
    '"ü\\u00fc\u{1f600}"',
  ]) {
    assert.deepEqual(parse(text), JSON.parse(text));
  }
  assert.deepEqual(Object.keys(parse('{"__proto__":1}') as object), ["__proto__"]);
});

test("parseJsonInSteps rejects what JSON.parse rejects", () => {
  const wrong = [
    "",
    "{",
    "[",
    '"',
    '"\\"',
    "{]",
    "[}",
    "[1,]",
    '{"a":1,}',
    '{"a"}',
    '{"a":}',
    "{1:2}",
    "[1 2]",
    "1 2",
    "tru",
    "-",
    "01",
    "[1]]",
    '{"a":1}}',
    '"\n"',
    "nul",
    "'a'",
    "[,1]",
    '{,"a":1}',
    "\u0000",
  ];
  for (const text of wrong) {
    assert.throws(() => JSON.parse(text), SyntaxError, text);
    assert.throws(() => parse(text), SyntaxError, text);
  }
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.constantFrom(...'{}[],:"\\1x '), (json, position, character) => {
      const at = position % (json.length + 1);
      const text = json.slice(0, at) + character + json.slice(at + (position % 2));
      let expected: unknown;
      try {
        expected = JSON.parse(text);
      } catch {
        assert.throws(() => parse(text), SyntaxError);
        return;
      }
      assert.deepEqual(parse(text), expected);
    }),
  );
});

test("parseJsonInSteps takes a step for each 32 KB, however the values are nested", () => {
  const slots = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`0x${i}`, `0x${i}`]));
  for (const value of [{ a: { b: slots } }, Array(5_000).fill({ a: 1 }), Array(200).fill("x".repeat(1_000))]) {
    const bytes = Buffer.from(JSON.stringify(value));
    const steps = parseJsonInSteps(bytes);
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) count++;
    assert.deepEqual(step.value, value);
    assert.ok(count >= Math.floor(bytes.length / 40_000), `${count} steps for ${bytes.length} bytes`);
  }
});
