import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../test/support/fast-check.ts";
import { type Genesis, genesisFromJson, parseGenesis, takeAccounts } from "./genesis.ts";
import { parseJsonKeepingIntegers } from "./genesis-json.ts";

/** What a file says, or what is wrong with it. */
function read(parse: () => Genesis): unknown {
  try {
    const genesis = parse();
    const alloc = Array.from(genesis.alloc, ([address, account]) => [
      address,
      { ...account, code: Buffer.from(account.code ?? []).toString("hex"), storage: [...(account.storage ?? [])] },
    ]);
    return { ...genesis, alloc };
  } catch (error) {
    const { message, code } = error as Error & { readonly code?: string };
    return { message, code };
  }
}

/** The file is read as one parsed as a whole is; whether its accounts were taken out of it. */
function isTakenAlike(text: string): boolean {
  assert.deepEqual(
    read(() => parseGenesis(text)),
    read(() => genesisFromJson(parseJsonKeepingIntegers(text))),
    text,
  );
  return takeAccounts(text) !== undefined;
}

const fileWith = (alloc: string) => `{"config":{"chainId":1},"difficulty":"0x0","gasLimit":"0x1","alloc":{${alloc}}}`;
const A = "00000000000000000000000000000000000000aa";
const B = "00000000000000000000000000000000000000bb";
const withA = (account: string) => fileWith(`"${A}":{${account}}`);

const digits = fc.stringMatching(/^[0-9a-fA-F]{0,70}$/);
const decimal = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 260n }).map(String), fc.stringMatching(/^[0-9]{1,82}$/));
const prefix = fc.constantFrom("0x", "0X", "");
const quoted = (text: fc.Arbitrary<string>) => text.map((value) => JSON.stringify(value));
const hex = fc.tuple(prefix, digits).map((parts) => parts.join(""));
const strange = fc.constantFrom(
  '""',
  "null",
  "-1",
  "1.5",
  "1e3",
  '"-1"',
  '"a{b"',
  '"}"',
  '"x\\"y"',
  "{}",
  "[]",
  "007",
  '"\\u0031"',
  "true",
);
const number = fc.oneof(
  { weight: 6, arbitrary: quoted(hex) },
  { weight: 3, arbitrary: quoted(decimal) },
  decimal,
  strange,
);
const balance = fc.oneof(
  { weight: 20, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map((n) => `"0x${n.toString(16)}"`) },
  number,
);
const nonce = fc.oneof({ weight: 20, arbitrary: fc.nat().map(String) }, number);
const code = fc.oneof(
  { weight: 20, arbitrary: fc.stringMatching(/^([0-9a-f]{2}){0,40}$/).map((text) => `"0x${text}"`) },
  quoted(hex),
  strange,
);
const slot = fc.oneof(
  { weight: 20, arbitrary: fc.stringMatching(/^0x[0-9a-fA-F]{1,64}$/) },
  { weight: 5, arbitrary: fc.constantFrom("0x0", "0x1", "0x01", "1", "10", "") },
  hex,
);
const word = fc.oneof(
  { weight: 20, arbitrary: quoted(fc.stringMatching(/^0x[0-9a-f]{1,64}$/)) },
  { weight: 5, arbitrary: fc.constantFrom('"0x0"', '"0x00"') },
  number,
);
const space = fc.oneof(
  { weight: 200, arbitrary: fc.constantFrom("", " ", "\n\t") },
  { weight: 1, arbitrary: fc.constant("\u00a0") },
);
const member = (key: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc
    .tuple(space, key, space, value, space)
    .map(([a, name, b, text, c]) => `${a}${JSON.stringify(name)}${b}:${text}${c}`);
const storage = fc.array(member(slot, word), { maxLength: 5 }).map((slots) => `{${slots.join(",")}}`);
const part = fc.oneof(
  { weight: 5, arbitrary: member(fc.constant("nonce"), nonce) },
  { weight: 5, arbitrary: member(fc.constant("code"), code) },
  { weight: 5, arbitrary: member(fc.constant("storage"), fc.oneof({ weight: 9, arbitrary: storage }, strange)) },
  member(fc.constant("secretKey"), fc.oneof(quoted(hex), strange)),
  member(fc.constant("balance"), balance),
);
const account = fc
  .tuple(member(fc.constant("balance"), balance), fc.array(part, { maxLength: 3 }), fc.nat(3))
  .map(([first, others, at]) => `{${others.toSpliced(at, 0, first).join(",")}}`);
const address = fc.oneof(
  {
    weight: 20,
    arbitrary: fc
      .tuple(fc.constantFrom("0x", ""), fc.stringMatching(/^[0-9a-fA-F]{40}$/))
      .map((parts) => parts.join("")),
  },
  { weight: 3, arbitrary: fc.constantFrom(A, `0x${A}`, B.toUpperCase()) },
  { weight: 1, arbitrary: fc.constantFrom("", "0x1", `0X${A}`, `${A}00`, "__proto__") },
);
const alloc = fc.array(member(address, account), { maxLength: 4 }).map((accounts) => accounts.join(","));

test("accounts decoded in one pass are those of the file parsed as a whole, and so is what is wrong", () => {
  let taken = 0;
  let count = 0;
  fc.assert(
    fc.property(alloc, fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, fc.nat()), (alloc, cut) => {
      const whole = fileWith(alloc);
      count++;
      if (isTakenAlike(cut === undefined ? whole : whole.slice(0, cut % whole.length))) taken++;
    }),
    { numRuns: 3_000 },
  );
  assert.ok(taken > count / 20, `${taken} of ${count}`);
  assert.ok(taken < count);
});

test("accounts are taken out of files as geth, we and others write them", () => {
  const slots = { "0x0": "0x1", [`0x${"ab".repeat(32)}`]: `0x${"00".repeat(31)}07`, "0x03": "0x0" };
  const accounts = {
    [`0x${A}`]: { balance: "0x1" },
    [B.toUpperCase()]: { balance: "5", nonce: 1, code: "0x6001", storage: slots },
    "00000000000000000000000000000000000000cc": {
      secretKey: "0x12",
      code: null,
      balance: "",
      nonce: "0x00",
      storage: {},
    },
  };
  for (const indent of [0, 2]) {
    const file = { config: { chainId: 1 }, alloc: accounts, difficulty: "0x0", gasLimit: "0x1" };
    assert.ok(isTakenAlike(JSON.stringify(file, null, indent)));
  }
  for (const balance of [
    "340282366920938463463374607431768211456",
    `"${2n ** 256n - 1n}"`,
    `"0x${"0".repeat(90)}1"`,
    "0",
  ]) {
    assert.ok(isTakenAlike(withA(`"balance":${balance}`)), balance);
  }
});

test("an account is found by its address among others", () => {
  const addresses = Array.from({ length: 500 }, (_, i) => `0x${i.toString(16).padStart(40, "0")}` as const);
  const { alloc } = parseGenesis(fileWith(addresses.map((address, i) => `"${address}":{"balance":"${i}"}`).join(",")));
  for (const [i, [address, account]] of [...alloc].entries()) {
    assert.equal(address, addresses[i]);
    assert.equal(alloc.get(address)?.balance, BigInt(i));
    assert.deepEqual(alloc.get(address), account);
    assert.equal(alloc.has(address.replace("0x0", "0x1") as typeof address), false);
  }
  assert.equal(alloc.size, 500);
});

test("nothing is taken out of a text that only the parser of all of it can judge", () => {
  const other = `"alloc":{"${A}":{"balance":"1"}}`;
  for (const text of [
    "",
    "{}",
    fileWith(""),
    withA('"balance":"1",'),
    withA(""),
    withA('"balance":null'),
    withA('"balance":"1","balance":"2"'),
    withA(`"balance":"${2n ** 256n}"`),
    withA(`"balance":"0x1${"0".repeat(64)}"`),
    withA('"balance":"1","nonce":"0x10000000000000000"'),
    withA('"balance":"1","code":"0x123"'),
    withA('"balance":"1","storage":{"0x1":"0x2","0x01":"0x0"}'),
    // JSON.parse puts them in another order.
    withA('"balance":"1","storage":{"10":"0x2","9":"0x1"}'),
    fileWith(`"${A}":{"balance":1},`),
    fileWith(`"${A}":1`),
    fileWith(`"${A}":{"balance":"1"},"0x${A.toUpperCase()}":{"balance":"2"}`),
    fileWith(`"${A}":{"balance":"1"}},${other.slice(0, -1)}`),
    withA('"balance":"1"').slice(0, -1),
    withA('"balance":"1"').slice(0, -2),
    `{"config":{${other}}}`,
    `{"alloc":5,"config":{${other}}}`,
  ]) {
    assert.equal(isTakenAlike(text), false, text);
  }
});

test("a long account that never ends is rejected in linear time", () => {
  assert.equal(takeAccounts(`{"alloc":{"${A}":{"code":"${"0x1 ".repeat(100_000)}`), undefined);
  assert.equal(takeAccounts(`{"alloc":{"${A}":{"code":"0x${"11".repeat(100_000)}`), undefined);
});
