import assert from "node:assert/strict";
import { test } from "node:test";
import { allAtOnce } from "../../../base/threads/in-slices.ts";
import { bytesInSteps, textInSteps } from "./text-in-steps.ts";

function decode(bytes: Buffer, end = bytes.length) {
  const steps = textInSteps(bytes, end);
  let count = 1;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count++;
  return { text: step.value, steps: count };
}

test("textInSteps decodes 128 KiB in a step, and no letter is cut", () => {
  for (const letter of ["a", "\u00e9", "\u20ac", "\u{1f600}"]) {
    for (let shift = 0; shift < 4; shift++) {
      const text = `${"x".repeat(shift)}${letter.repeat(200_000)}`;
      const bytes = Buffer.from(text);
      assert.deepEqual(decode(bytes), { text, steps: Math.ceil(bytes.length / (128 << 10)) });
    }
  }
});

test("textInSteps reads bytes that are no UTF-8 as a Buffer does", () => {
  for (const byte of [0x80, 0xbf, 0xc3, 0xe2, 0xf0, 0xff]) {
    const bytes = Buffer.alloc(300_001, byte);
    assert.equal(decode(bytes).text, bytes.toString());
    assert.equal(decode(bytes, 131_073).text, bytes.toString("utf8", 0, 131_073));
  }
});

test("bytesInSteps encodes as a Buffer does, and no letter is cut", () => {
  for (const letter of ["a", "\u00e9", "\u20ac", "\u{1f600}", "\ud83d", "\ude00"]) {
    for (let shift = 0; shift < 3; shift++) {
      const text = `${"x".repeat(shift)}${letter.repeat(300_000)}`;
      const pieces = allAtOnce(bytesInSteps(text));
      assert.ok(Buffer.concat(pieces).equals(Buffer.from(text)), letter);
      assert.ok(pieces.length >= Math.ceil(text.length / (256 << 10)));
    }
  }
});
