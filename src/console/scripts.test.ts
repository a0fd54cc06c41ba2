import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { escapeControlsInLines } from "../telemetry/escape-controls.ts";
import { CONTROL_CHARACTERS } from "../telemetry/testing/control-characters.ts";
import { isShowable, shownValue } from "./scripts.ts";

const COLOR = "\x1b[33m";

test("a value has colors, unless a text in it could bring its own", () => {
  assert.ok(shownValue(1n, true).startsWith(COLOR));
  assert.equal(shownValue(1n, false), "1n");
  for (const control of CONTROL_CHARACTERS) {
    if (control === "\n" || control === "\t") continue;
    for (const value of [
      new Error(`a${control}b`),
      { name: new Error(`a${control}b`) },
      Object.defineProperty(() => {}, "name", { value: control }),
      Symbol(control),
    ]) {
      const shown = shownValue(value, true);
      // What inspect has quoted itself may have colors.
      if (inspect(value).includes(control)) assert.equal(shown, escapeControlsInLines(shown));
      else assert.ok(!shown.replaceAll("\x1b[", "").includes(control));
    }
  }
});

test("no name with a control character is completed", () => {
  for (const control of CONTROL_CHARACTERS) assert.equal(isShowable(`a${control}b`), false);
  assert.equal(isShowable("getBalance"), true);
});
