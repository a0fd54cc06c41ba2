import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { hasColors } from "./colors.ts";
import { createLogOutput, LOG_OUTPUT_LIMITS } from "./log-output.ts";

/** A reader that takes a piece when the test says so. */
function slowReader() {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const output = new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      waiting.push(() => {
        taken.push(text);
        done();
      });
    },
  });
  return { output, taken, take: () => waiting.shift()?.() };
}

test("a reader that is too slow loses lines, whose number is said, and the node no memory", () => {
  const { output, taken, take } = slowReader();
  const dropped: number[] = [];
  const write = createLogOutput(output, (lines) => void dropped.push(lines));
  const line = `${"x".repeat(999)}\n`;
  for (let i = 0; i < 5_000; i++) write(line);
  assert.ok(output.writableLength <= LOG_OUTPUT_LIMITS.waitingBytesMax);
  assert.ok(output.writableLength > LOG_OUTPUT_LIMITS.waitingBytesMax / 2);
  assert.deepEqual(dropped, []);
  while (output.writableLength > 0) take();
  write("two\nlines\n");
  take();
  assert.deepEqual(dropped, [5_000 - taken.length + 1]);
  assert.equal(taken.at(-1), "two\nlines\n");
});

test("a reader that is gone ends the log, and nothing else", async () => {
  let writes = 0;
  const output = new Writable({
    write(_text, _encoding, done) {
      writes++;
      done(Object.assign(new Error("broken pipe"), { code: "EPIPE" }));
    },
  });
  const write = createLogOutput(output, () => assert.fail());
  write("first\n");
  await new Promise(setImmediate);
  write("second\n");
  assert.equal(writes, 1);
});

test("colours are for terminals that have them, as NO_COLOR, FORCE_COLOR and TERM say", () => {
  const terminal = { isTTY: true };
  const pipe = {};
  assert.ok(hasColors(terminal, {}));
  assert.ok(hasColors(terminal, { TERM: "xterm", NO_COLOR: "" }));
  assert.ok(!hasColors(terminal, { NO_COLOR: "1" }));
  assert.ok(!hasColors(terminal, { TERM: "dumb" }));
  assert.ok(!hasColors(terminal, { FORCE_COLOR: "0" }));
  assert.ok(!hasColors(pipe, {}));
  assert.ok(hasColors(pipe, { FORCE_COLOR: "1" }));
  assert.ok(hasColors(pipe, { FORCE_COLOR: "", NO_COLOR: "1" }));
});
