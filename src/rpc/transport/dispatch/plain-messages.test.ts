import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { DEFAULT_RPC_LIMITS } from "../limits.ts";
import { scanJson } from "./json-scan.ts";
import { readMessage } from "./message.ts";
import { PlainMessageReader } from "./plain-messages.ts";

const limits = DEFAULT_RPC_LIMITS;
const NAME = "eth_getBalance";
const ALICE = `0x${"a1".repeat(20)}`;

function plain(body: string | Buffer, bounds = limits) {
  return new PlainMessageReader(bounds).read(Buffer.from(body));
}

/** What checking, parsing and classifying make of the same body. */
function parsed(body: Buffer) {
  const { end, items, ids, isBatch } = scanJson(body, limits);
  const value: unknown = JSON.parse(body.toString("utf8", 0, end));
  const values = Array.isArray(value) ? value : [value];
  const messages = values.map((entry, i) => readMessage(entry, ids[i], limits.idBytesMax, false));
  return { messages, isBatch, items };
}

const call = (id: string, params: string, method = NAME) =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

const objectOf = (members: number) => `[{${Array.from({ length: members }, (_, i) => `"m${i}":true`).join(",")}}]`;

const PLAIN = {
  "no parameters": call("1", "[]"),
  "a string and a tag": call("0", `["${ALICE}","latest"]`),
  "no params": `{"jsonrpc":"2.0","id":1,"method":"${NAME}"}`,
  booleans: call("999999999", '["0x1",true,false]'),
  "a call and a tag": call("1", `[{"to":"${ALICE}","data":"0x70a08231","value":null},"latest"]`),
  "a filter": call("1", `[{"fromBlock":"0x1","topics":[null,["0x1","0x2"],[]],"address":"${ALICE}"}]`),
  "an access list": call("1", `[{"accessList":[{"address":"${ALICE}","storageKeys":["0x1"]}]}]`),
  "an empty object and an empty list": call("1", "[{},[],null]"),
  "a member of a parameter twice": call("1", '[{"a":1,"b":2,"a":"3"}]'),
  integers: call("1", '["0x14","latest",[0,25,999999999]]'),
  "an object of many members": call("1", objectOf(24)),
  "an id that is a string": call('"a-1"', '[""]'),
  "members in another order": `{"method":"${NAME}","params":[],"id":7,"jsonrpc":"2.0"}`,
  "blanks after the message": `${call("1", "[]")}\r\n\t `,
  "a batch": `[${call("1", "[]")},${call("2", `["${ALICE}"]`)},${call("2", "[true]", "net_version")}]`,
  "a batch of one": `[${call("1", "[]")}]`,
};

for (const [name, body] of Object.entries(PLAIN)) {
  test(`PlainMessageReader reads ${name} as JSON.parse does`, () => {
    assert.deepEqual(plain(body), parsed(Buffer.from(body)));
  });
}

const OTHER = {
  "no method": '{"jsonrpc":"2.0","id":1,"params":[]}',
  "params that are null": call("1", "null"),
  nothing: "",
  "an empty batch": "[]",
  "white space": ` ${call("1", "[]")}`,
  "a second value": `${call("1", "[]")}\n{`,
  "white space inside": call("1", "[ ]"),
  "an id with a leading zero": call("01", "[]"),
  "an id of ten digits": call("1234567890", "[]"),
  "an id below zero": call("-1", "[]"),
  "an id with a fraction": call("1.0", "[]"),
  "an id that is null": call("null", "[]"),
  "a long id": call(`"${"a".repeat(65)}"`, "[]"),
  "an escape": call("1", '["\\u0041"]'),
  "an escaped quote": call("1", '["\\""]'),
  "letters beyond ASCII": call("1", '["ü"]'),
  "a control character": call("1", '["\u0001"]'),
  "white space in an object": call("1", '[{"to": "0x"}]'),
  "a name with an escape": call("1", '[{"t\\u006f":"0x"}]'),
  "a name that is a number": call("1", '[{"1":"0x"}]'),
  "a name that begins with a digit": call("1", `[{"${ALICE}":{}}]`),
  "the name of the prototype": call("1", '[{"__proto__":{"a":1}}]'),
  "an object of too many members": call("1", objectOf(25)),
  "a comma at the end of an object": call("1", '[{"a":1,}]'),
  "a member without a value": call("1", '[{"a"}]'),
  "a number below zero": call("1", "[-1]"),
  "a number with a fraction": call("1", "[1.5]"),
  "a number with an exponent": call("1", "[1e3]"),
  "a number with a leading zero": call("1", "[01]"),
  "a number of ten digits": call("1", "[1234567890]"),
  "lists in lists in lists in lists in lists": call("1", "[[[[[[]]]]]]"),
  "a comma at the end": call("1", '["a",]'),
  "no id": `{"jsonrpc":"2.0","method":"${NAME}","params":[]}`,
  "another version": call("1", "[]").replace("2.0", "1.0"),
  "a member twice": call("1", "[]").replace('"id":1', '"id":1,"id":2'),
  "a member of another name": call("1", "[]").replace("{", '{"a":1,'),
  "a member in capitals": call("1", "[]").replace('"id"', '"ID"'),
  "a method without letters": call("1", "[]", ""),
  "a method of other letters": call("1", "[]", "eth.blockNumber"),
  "a long method": call("1", "[]", "a".repeat(64)),
  "a batch that ends early": `[${call("1", "[]")}`,
  "a batch with something else": `[${call("1", "[]")},1]`,
  "a comma at the end of a batch": `[${call("1", "[]")},]`,
  "a long body": `[${Array(600).fill(call("1", "[]")).join(",")}]`,
};

for (const [name, body] of Object.entries(OTHER)) {
  test(`PlainMessageReader leaves ${name} to JSON.parse`, () => {
    assert.equal(plain(body), undefined);
  });
}

test("PlainMessageReader leaves a body beyond a limit to the scan that rejects it", () => {
  const body = PLAIN["a batch"];
  const { items, messages } = plain(body)!;
  const counted = items + messages.length * 4 * 3;
  assert.notEqual(plain(body, { ...limits, jsonItemsMax: counted }), undefined);
  assert.equal(plain(body, { ...limits, jsonItemsMax: counted - 1 }), undefined);
  assert.throws(() => scanJson(Buffer.from(body), { ...limits, jsonItemsMax: counted - 1 }), {
    code: "RPC_INVALID_REQUEST",
  });
  assert.equal(plain(body, { ...limits, jsonDepthMax: 2 }), undefined);
  const nested = call("1", '[{"a":[]}]');
  assert.notEqual(plain(nested, { ...limits, jsonDepthMax: 5 }), undefined);
  assert.equal(plain(nested, { ...limits, jsonDepthMax: 4 }), undefined);
  const members = call("1", '[{"a":1,"b":2}]');
  assert.notEqual(plain(members, { ...limits, jsonItemsMax: 7 + 6 * 3 }), undefined);
  assert.equal(plain(members, { ...limits, jsonItemsMax: 6 + 6 * 3 }), undefined);
  assert.notEqual(plain(call("123", "[]"), { ...limits, idBytesMax: 3 }), undefined);
  assert.equal(plain(call("1234", "[]"), { ...limits, idBytesMax: 3 }), undefined);
  assert.equal(plain(call('"12"', "[]"), { ...limits, idBytesMax: 3 }), undefined);
});

test("PlainMessageReader: names of methods and members that share a place are told apart", () => {
  const reader = new PlainMessageReader(limits);
  const names = Array.from({ length: 1_000 }, (_, i) => `eth_method${i}`);
  for (const name of [...names, ...names]) {
    const [message] = reader.read(Buffer.from(call("1", `[{"${name}":1}]`, name)))!.messages;
    assert.deepEqual(message, { kind: "call", id: "1", method: name, params: [{ [name]: 1 }] });
  }
});

test("PlainMessageReader: whatever it reads of damaged bodies, JSON.parse reads the same", () => {
  const bytes = [...Buffer.from('{}[],:"\\ 0129aeidjmp_ü\n\u0000'), 0x80, 0xff];
  const damage = fc.record({
    body: fc.constantFrom(...Object.values(PLAIN)),
    edits: fc.array(
      fc.record({ at: fc.nat(400), kind: fc.constantFrom("set", "insert", "remove"), byte: fc.constantFrom(...bytes) }),
      { minLength: 1, maxLength: 2 },
    ),
  });
  let read = 0;
  fc.assert(
    fc.property(damage, ({ body, edits }) => {
      const damaged = [...Buffer.from(body)];
      for (const { at, kind, byte } of edits) {
        const place = at % damaged.length;
        if (kind === "set") damaged[place] = byte;
        else if (kind === "insert") damaged.splice(place, 0, byte);
        else damaged.splice(place, 1);
      }
      const bytesOf = Buffer.from(damaged);
      const result = plain(bytesOf);
      if (result === undefined) return;
      read++;
      assert.deepEqual(result, parsed(bytesOf));
    }),
    { numRuns: 5_000 },
  );
  assert.ok(read > 300, `${read} bodies were read`);
});

test("PlainMessageReader: whatever it reads of parameters of all kinds, JSON.parse reads the same", () => {
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.oneof(
        fc.constantFrom("latest", ALICE, "", "ü", '"', "\\"),
        fc.boolean(),
        fc.constant(null),
        fc.nat(),
        fc.double(),
      ),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("to", "data", "id", "0x1", "7", "a b", "__proto__", ""), tie("value")),
    ),
  }));
  let read = 0;
  fc.assert(
    fc.property(fc.array(value, { maxLength: 3 }), fc.boolean(), (params, isBatch) => {
      const text = call("1", JSON.stringify(params));
      const body = Buffer.from(isBatch ? `[${text},${text}]` : text);
      const result = plain(body);
      if (result === undefined) return;
      read++;
      assert.deepEqual(result, parsed(body));
    }),
    { numRuns: 3_000 },
  );
  assert.ok(read > 300, `${read} bodies were read`);
});

test("scanJson refuses numbers of thousands of digits, which JSON.parse takes milliseconds for", () => {
  const digits = (count: number) => ["", "-", "0."].map((sign) => `${sign}${"9".repeat(count)}`);
  for (const number of digits(5_000)) {
    for (const body of [number, `[${number}]`, `[${number},1]`, `{"id":${number}}`, `{"params":["a",${number},1]}`]) {
      assert.throws(() => scanJson(Buffer.from(body), limits), { code: "RPC_INVALID_REQUEST" }, body.slice(0, 20));
    }
  }
  // It looks no further than that: the rest is no JSON.
  for (const body of [`[${"9".repeat(5_000)}`, `[1,${" ".repeat(5_000)}`]) {
    assert.throws(() => scanJson(Buffer.from(body), limits), { code: "RPC_INVALID_REQUEST" });
  }
  for (const number of digits(400)) {
    const body = Buffer.from(`{"params":["${"a".repeat(9_000)}",${number}, {"a":${number}} ]}`);
    assert.equal(scanJson(body, limits).end, body.length);
  }
});
