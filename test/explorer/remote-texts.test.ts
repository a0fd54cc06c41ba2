import assert from "node:assert/strict";
import { test } from "node:test";
import { createElement, type VNode } from "preact";
import { escapeVNode } from "../../src/web/explorer/ui/escape-texts.ts";
import * as format from "../../src/web/explorer/ui/format.ts";
import { decimalsOf, symbolOf } from "../../src/web/explorer/ui/tokens/token-facts.ts";
import { amountText } from "../../src/web/explorer/ui/tokens/tokens.ts";
import { CONTROL_CHARACTERS } from "../support/base/telemetry/control-characters.ts";
import fc from "../support/fast-check.ts";
import { HANG_MS } from "../support/until.ts";

/** What is quadratic would take hours. */
const TIMEOUT = { timeout: HANG_MS };

/** Texts that grow: what costs more than linear time does not end for them. */
const LENGTH = 4_000_000;
const LONG = ["0", "9", "f", "0x", "-", " ", "10"].flatMap((text) => [
  text.repeat(LENGTH / text.length),
  `0x${text.repeat(LENGTH / text.length)}`,
]);

const FORMATS: Readonly<Record<string, (text: string) => unknown>> = {
  count: format.count,
  ether: format.ether,
  gwei: format.gwei,
  shortWord: format.shortWord,
  shortHex: format.shortHex,
  age: (text) => format.age(text, 0),
  dateTime: format.dateTime,
  percent: (text) => format.percent(text, text),
  feeText: (text) => format.feeText(text, text),
  bytesOfHex: format.bytesOfHex,
  symbolOf,
  decimalsOf,
};

for (const [name, show] of Object.entries(FORMATS)) {
  test(`${name} ends for whatever a node answers, and throws for nothing`, TIMEOUT, () => {
    for (const text of LONG) show(text);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.jsonValue()), (value) => {
        show(value as string);
        return true;
      }),
    );
    for (const value of ["", "NaN", "Infinity", "1e999", "0x", "-0", null, undefined, [], {}]) {
      show(value as string);
    }
  });
}

test("numbers are grouped, and decimals have no zeros at their end", () => {
  assert.equal(format.count("0xffffffff"), "4,294,967,295");
  assert.deepEqual([0, 12, 123, 1234, -123, -1234].map(format.count), ["0", "12", "123", "1,234", "-123", "-1,234"]);
  assert.equal(format.decimal(10n ** 21n + 5n * 10n ** 17n, 18), "1,000.5");
  assert.equal(format.decimal(-1n, 255), `−0.${"0".repeat(254)}1`);
  assert.equal(format.decimal(1000n, 3), "1");
  assert.equal(format.decimal(0n, 0), "0");
});

test("a number of more than 256 bits is none, in place of a digit that is wrong", () => {
  assert.notEqual(format.count(`0x${"f".repeat(64)}`), format.count("nothing"));
  assert.equal(format.count(`0x1${"0".repeat(64)}`), format.count("nothing"));
});

test("decimals are 0 to 255, or there are none", () => {
  for (const [answer, decimals] of [
    ["0", 0],
    ["18", 18],
    ["255", 255],
    ["256", undefined],
    ["200000", undefined],
    [String(2n ** 256n - 1n), undefined],
    ["-1", undefined],
    ["1e2", undefined],
    ["", undefined],
    [undefined, undefined],
  ] as const) {
    assert.equal(decimalsOf(answer), decimals);
  }
  assert.equal(amountText(1500n, { symbol: "T", decimals: 3 }), "1.5 T");
  assert.equal(amountText(1500n, { symbol: "T", decimals: undefined }), "1,500 units of T");
});

test("a symbol is clipped", () => {
  assert.equal(symbolOf("USDC"), "USDC");
  assert.equal(symbolOf(""), undefined);
  assert.ok(symbolOf("x".repeat(LENGTH))!.length < 30);
});

test("every text and title that is drawn has its control characters escaped", () => {
  for (const control of CONTROL_CHARACTERS) {
    if (control === "\n" || control === "\t") continue;
    const said = `a${control}b`;
    const text = { type: null, props: said } as never;
    escapeVNode(text);
    assert.match((text as { props: string }).props, /^a(\\u[0-9a-f]{4})+b$/);
    const element = createElement("span", { title: said, "aria-label": said });
    escapeVNode(element as VNode);
    for (const shown of [element.props.title, element.props["aria-label"]]) {
      assert.match(String(shown), /^a(\\u[0-9a-f]{4})+b$/);
    }
  }
});
