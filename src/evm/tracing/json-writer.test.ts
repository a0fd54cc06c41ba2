import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { bigintToFixedBytes } from "../../base/primitives/bytes.ts";
import { JsonWriter, textString } from "./json-writer.ts";

const written = (write: (out: JsonWriter) => void) => {
  const out = new JsonWriter();
  write(out);
  const { length } = out;
  const text = textString(out.finish());
  assert.equal(length, Buffer.byteLength(text));
  return text;
};

test("JsonWriter writes numbers, words, bytes and text as the language formats them", () => {
  const word = fc.oneof(fc.bigInt(0n, 255n), fc.bigInt(0n, 1n << 64n), fc.bigInt(0n, (1n << 256n) - 1n));
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 300 }),
      fc.array(fc.oneof(fc.maxSafeNat(), fc.bigInt(0n, 1n << 70n)), { maxLength: 300 }),
      fc.uint8Array({ maxLength: 9000 }),
      fc.string({ unit: "binary" }),
      (words, numbers, bytes, text) => {
        const actual = written((out) => {
          for (const each of words) {
            out.quantity(Uint8Array.of(9, ...bigintToFixedBytes(each, 32).reverse()), 1);
          }
          for (const each of numbers) {
            out.decimal(each);
            out.quantityOf(BigInt(each));
          }
          out.data(bytes);
          out.append(text.repeat(20));
          out.append([Buffer.from(text), Buffer.from("é")]);
          out.hex(Uint8Array.of(7, ...bytes, 7), 1, bytes.length + 1);
          out.text(text);
        });
        const expected = [
          ...words.map((each) => `"0x${each.toString(16)}"`),
          ...numbers.map((each) => `${each}"0x${each.toString(16)}"`),
          `"0x${Buffer.from(bytes).toString("hex")}"`,
          Buffer.from(text.repeat(20)).toString(),
          `${Buffer.from(text)}é`,
          Buffer.from(bytes).toString("hex"),
          Buffer.from(text).toString(),
        ];
        assert.equal(actual, expected.join(""));
      },
    ),
  );
});

test("JsonWriter cuts what is larger than a piece, and each piece fills most of a buffer of its own", () => {
  const out = new JsonWriter();
  const bytes = new Uint8Array(3 << 20).fill(0xab);
  out.hex(bytes, 0, bytes.length);
  const pieces = out.finish();
  assert.ok(pieces.length > 5);
  for (const piece of pieces) assert.ok(2 * piece.length >= piece.buffer.byteLength);
  assert.equal(new Set(pieces.map(({ buffer }) => buffer)).size, pieces.length);
  assert.equal(textString(pieces), "ab".repeat(bytes.length));
});

test("JsonWriter gives a text as a string that its first piece has room for, and otherwise leaves nothing in the caller's buffer", () => {
  const scratch = new Uint8Array(1_000);
  const write = (text: string) => {
    const out = new JsonWriter(scratch);
    out.text("[");
    out.text(text);
    return out.finishText();
  };
  assert.equal(write("é".repeat(400)), `[${"é".repeat(400)}`);
  assert.equal(write("a".repeat(999)), `[${"a".repeat(999)}`);
  const long = write("b".repeat(1_000));
  assert.ok(typeof long !== "string");
  scratch.fill(0);
  assert.equal(textString(long), `[${"b".repeat(1_000)}`);
});
