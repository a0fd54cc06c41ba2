import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { jsonSyntaxError } from "./json-error.ts";

test("jsonSyntaxError uses the words of Go's encoding/json", () => {
  const texts: Readonly<Record<string, string>> = {
    hello: "invalid character 'h' looking for beginning of value",
    "\u0001\u0002": "invalid character '\\x01' looking for beginning of value",
    "{1:2}": "invalid character '1' looking for beginning of object key string",
    '{"a" 1}': "invalid character '1' after object key",
    '{"a":1 "b"}': "invalid character '\"' after object key:value pair",
    "[1 2]": "invalid character '2' after array element",
    "[1,]": "invalid character ']' looking for beginning of value",
    '["\n"]': "invalid character '\\n' in string literal",
    '["\\x"]': "invalid character 'x' in string escape code",
    '["\\u12g4"]': "invalid character 'g' in \\u hexadecimal character escape",
    "[trux]": "invalid character 'x' in literal true (expecting 'e')",
    "[-x]": "invalid character 'x' in numeric literal",
    "[1.x]": "invalid character 'x' after decimal point in numeric literal",
    "[1ex]": "invalid character 'x' in exponent of numeric literal",
    "[01]": "invalid character '1' after array element",
  };
  for (const [text, expected] of Object.entries(texts)) {
    assert.equal(jsonSyntaxError(Buffer.from(text)), expected, text);
  }
});

test("jsonSyntaxError looks at no text that is long", () => {
  const body = Buffer.from(`["${"x".repeat(1 << 20)}"?`);
  assert.equal(jsonSyntaxError(body), undefined);
});

test("jsonSyntaxError finds nothing in a text that only ends too early", () => {
  for (const text of ["{", '{"a"', "[1,", '"abc', "tru", "-"]) {
    assert.equal(jsonSyntaxError(Buffer.from(text)), undefined, text);
  }
});

test("jsonSyntaxError finds nothing in any JSON, nor in a part of it from its beginning", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(), (value, cut) => {
      const text = JSON.stringify(value);
      assert.equal(jsonSyntaxError(Buffer.from(text)), undefined, text);
      const part = Buffer.from(text).subarray(0, cut % (text.length + 1));
      assert.equal(jsonSyntaxError(part), undefined, part.toString());
    }),
  );
});
