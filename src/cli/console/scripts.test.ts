import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { createContext } from "node:vm";
import { CONTROL_CHARACTERS } from "../../../test/support/base/telemetry/control-characters.ts";
import { escapeControlsInLines } from "../../base/telemetry/escape-controls.ts";
import { evaluate, isShowable, shownValue } from "./scripts.ts";

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

test("a fault of syntax is one of the code, not of what is put around it", async () => {
  const errorOf = async (code: string) =>
    evaluate(code, createContext({}), "code").then(String, ({ name, message }) => `${name}: ${message}`);
  assert.equal(await errorOf("nope("), "SyntaxError: Unexpected end of input");
  assert.equal(await errorOf("1 +"), "SyntaxError: Unexpected end of input");
  assert.match(await errorOf("a }"), /^SyntaxError: Unexpected token '}'/);
  assert.equal(await errorOf("return 5"), "5");
  assert.equal(await errorOf("const a = await 6; return a"), "6");
});

test("no name with a control character is completed", () => {
  for (const control of CONTROL_CHARACTERS) assert.equal(isShowable(`a${control}b`), false);
  assert.equal(isShowable("getBalance"), true);
});
