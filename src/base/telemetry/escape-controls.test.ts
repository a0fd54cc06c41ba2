import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTROL_CHARACTERS } from "../../../test/support/base/telemetry/control-characters.ts";
import { createLogger, type LogFormat } from "./create-logger.ts";
import { escapeControls, escapeControlsInLines } from "./escape-controls.ts";

test("every control character is escaped, and stays the same character for JSON", () => {
  for (const control of CONTROL_CHARACTERS) {
    const escaped = escapeControls(`a${control}b`);
    assert.match(escaped, /^a(?:\\u[0-9a-f]{4}){1,2}b$/);
    assert.equal(JSON.parse(`"${escaped}"`), `a${control}b`);
  }
});

test("text that people write is left as it is", () => {
  for (const text of ["", "plain", "naïve Größe", "日本語", "עברית", "🌍", "a\u00a0b", "€ £ ¥"]) {
    assert.equal(escapeControls(text), text);
  }
  assert.equal(escapeControlsInLines("a\tb\nc\r\x1b"), "a\tb\nc\\u000d\\u001b");
});

for (const format of ["text", "json"] satisfies LogFormat[]) {
  test(`a log in ${format} form has no raw control character, wherever it came in`, () => {
    for (const control of CONTROL_CHARACTERS) {
      const hostile = `x${control}y`;
      let written = "";
      const log = createLogger({ level: "info", format, write: (line) => (written += line) });
      log.child(hostile).warn(hostile, {
        [hostile]: 1,
        value: hostile,
        // The moniker of a peer, a Host header, and what a contract has logged arrive like this.
        nested: { name: hostile, list: [hostile] },
        error: new Error(hostile),
      });
      const line = written.slice(0, -1);
      assert.equal(escapeControls(line), line);
      assert.equal(written.at(-1), "\n");
    }
  });
}
