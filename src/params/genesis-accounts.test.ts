import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../test/support/fast-check.ts";
import { takeAccounts } from "./genesis.ts";
import { InvalidGenesisError, parseJsonKeepingIntegers } from "./genesis-json.ts";

function taken(text: string) {
  const alloc: Record<string, unknown> = {};
  const rest = takeAccounts(text, (key, account) => {
    if (key in alloc) throw new InvalidGenesisError(key, "given twice");
    alloc[key] = account;
  });
  return rest && { ...rest, alloc };
}

const word = fc.constantFrom("0x1", "12345678901234567890123", "a{b", "}", 'x"y', "\\", "alloc", "");
const account = fc.record(
  { balance: word, nonce: word, code: word, storage: fc.dictionary(word, word, { maxKeys: 3 }) },
  { requiredKeys: ["balance"] },
);
const file = fc.record({
  config: fc.record({
    chainId: fc.nat(),
    alloc: fc.option(fc.dictionary(word, account, { maxKeys: 2 })),
  }),
  alloc: fc.dictionary(fc.oneof(fc.stringMatching(/^[0-9a-f]{40}$/), word), account, {
    maxKeys: 6,
  }),
  extraData: word,
});

test("accounts taken out of a genesis file are those of the file parsed as a whole, or none are taken", () => {
  let count = 0;
  fc.assert(
    fc.property(file, fc.nat(2), (file, indent) => {
      const text = JSON.stringify(file, null, indent);
      const found = taken(text);
      if (found === undefined) return;
      count++;
      assert.deepEqual(found, parseJsonKeepingIntegers(text));
    }),
  );
  assert.ok(count > 0);
});

test("accounts are taken out of files as geth and we write them", () => {
  const accounts = {
    "0x00000000000000000000000000000000000000aa": { balance: "0x1" },
    "00000000000000000000000000000000000000bb": {
      balance: "5",
      nonce: 1,
      storage: { "0x0": "0x1" },
    },
  };
  for (const indent of [0, 2]) {
    const text = JSON.stringify({ config: {}, alloc: accounts, difficulty: "0x0" }, null, indent);
    assert.deepEqual(taken(text), JSON.parse(text));
  }
  const long = `{"alloc":{"aa":{"balance":340282366920938463463374607431768211456}}}`;
  assert.deepEqual(taken(long), parseJsonKeepingIntegers(long));
});

test("nothing is taken out of a text that only the parser of all of it can judge", () => {
  for (const text of [
    "",
    "{}",
    `{"alloc":{}}`,
    `{"alloc":{"aa":{"balance":"1"},}}`,
    `{"alloc":{"aa":{"balance":"1"}}`,
    `{"alloc":{"aa":{"balance":1,}}}`,
    `{"alloc":{"aa":1}}`,
    `{"alloc":{"aa":{"balance":"1"},"aa":{"balance":"2"}}}`,
    `{"alloc":{"aa":{"balance":"1"}},"alloc":{}}`,
    `{"config":{"alloc":{"aa":{"balance":"1"}}}}`,
  ]) {
    assert.equal(taken(text), undefined, text);
  }
});

test("a long account that never ends is rejected in linear time", () => {
  const text = `{"alloc":{"aa":{"code":"${"0x1 ".repeat(100_000)}`;
  assert.equal(taken(text), undefined);
});
