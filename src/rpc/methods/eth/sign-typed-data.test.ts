import assert from "node:assert/strict";
import { test } from "node:test";
import { TypedDataEncoder } from "ethers";
import { ALICE, BOB, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { recoverAddress } from "../../../base/crypto/secp256k1.ts";
import { bytesToBigint } from "../../../base/primitives/bytes.ts";
import { bytesToHex, type Hex, hexToBytes } from "../../../base/primitives/hex.ts";
import { allAtOnce } from "../../../base/threads/in-slices.ts";
import { sign, signTypedDataV4 } from "./sign.ts";
import { TYPED_DATA_LIMITS, typedDataHash } from "./typed-data.ts";

const hashOf = (value: unknown) => bytesToHex(allAtOnce(typedDataHash(value)));

/** The example of EIP-712. */
const mail = {
  types: {
    EIP712Domain: [
      { name: "name", type: "string" },
      { name: "version", type: "string" },
      { name: "chainId", type: "uint256" },
      { name: "verifyingContract", type: "address" },
    ],
    Person: [
      { name: "name", type: "string" },
      { name: "wallet", type: "address" },
    ],
    Mail: [
      { name: "from", type: "Person" },
      { name: "to", type: "Person" },
      { name: "contents", type: "string" },
    ],
  },
  primaryType: "Mail",
  domain: {
    name: "Ether Mail",
    version: "1",
    chainId: 1,
    verifyingContract: "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC",
  },
  message: {
    from: { name: "Cow", wallet: "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826" },
    to: { name: "Bob", wallet: "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB" },
    contents: "Hello, Bob!",
  },
};

test("typed data hashes as the example of EIP-712 does", () => {
  const expected = "0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2";
  assert.equal(hashOf(mail), expected);
  assert.equal(hashOf(JSON.stringify(mail)), expected);
});

test("typed data of every shape hashes as ethers does", () => {
  const types = {
    Inner: [{ name: "flags", type: "bool[2]" }],
    All: [
      { name: "raw", type: "bytes" },
      { name: "word", type: "bytes4" },
      { name: "small", type: "int8" },
      { name: "big", type: "uint256" },
      { name: "list", type: "Inner[]" },
      { name: "matrix", type: "uint8[2][]" },
    ],
  };
  const domain = { name: "n", salt: `0x${"11".repeat(32)}` };
  const message = {
    raw: "0x0102",
    word: "0xdeadbeef",
    small: -5,
    big: "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    list: [{ flags: [true, false] }, { flags: [false, false] }],
    matrix: [
      [1, 2],
      [3, 4],
    ],
  };
  const EIP712Domain = [
    { name: "name", type: "string" },
    { name: "salt", type: "bytes32" },
  ];
  assert.equal(
    hashOf({ types: { ...types, EIP712Domain }, primaryType: "All", domain, message }),
    TypedDataEncoder.hash(domain, types, message),
  );
});

test("eth_signTypedData_v4 signs the hash", async () => {
  const modules = createTestModules();
  const signature = hexToBytes((await signTypedDataV4.call(modules, [ALICE, mail])) as Hex);
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32, 64)].map(bytesToBigint);
  const parity = (signature[64]! - 27) as 0 | 1;
  assert.equal(recoverAddress(allAtOnce(typedDataHash(mail)), r!, s!, parity), ALICE);
});

test("typed data that does not fit its types is refused", () => {
  const cyclic = { types: { ...mail.types, Loop: [{ name: "x", type: "Loop[]" }] } };
  let nested: unknown = { x: [] };
  for (let i = 0; i < 100; i++) nested = { x: [nested] };
  for (const bad of [
    "{",
    5,
    {},
    { ...mail, primaryType: "None" },
    { ...mail, message: { ...mail.message, contents: 5 } },
    { ...mail, domain: { ...mail.domain, chainId: -1 } },
    { ...mail, domain: { ...mail.domain, verifyingContract: "0x00" } },
    { ...mail, types: { Mail: mail.types.Mail } },
    { ...mail, ...cyclic, primaryType: "Loop", message: nested },
    { ...mail, types: { ...mail.types, Mail: [{ name: "contents", type: `string${"[]".repeat(100)}` }] } },
    { ...mail, types: { ...mail.types, Mail: [{ name: "toString", type: "string" }] } },
  ]) {
    assert.throws(() => hashOf(bad), { code: "RPC_TYPED_DATA" });
  }
});

/** `count` members of one name; the message has the value once. */
const fields = (count: number, type: string, name = "x") => Array.from({ length: count }, () => ({ name, type }));

/** Typed data of a few hundred kilobytes that would take seconds to hours. */
function hostileData() {
  const { types, domain } = mail;
  const chain = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, i) => [
      `T${i}`,
      [
        { name: "a", type: `T${i + 1}` },
        { name: "b", type: `T${i + 1}` },
      ],
    ]),
  );
  const items = Array.from({ length: 5_000 }, () => ({}));
  return {
    "absent members": {
      types: { ...types, Empty: [], Wide: fields(2_000, "Empty"), List: fields(1, "Wide[]") },
      primaryType: "List",
      domain,
      message: { x: items },
    },
    "the texts of types": {
      types: { ...types, ...chain, All: Array.from({ length: 5_000 }, (_, i) => ({ name: `x${i}`, type: `T${i}` })) },
      primaryType: "All",
      domain,
      message: Object.fromEntries(items.map((item, i) => [`x${i}`, item])),
    },
    "one long text": {
      types: { ...types, Many: fields(2_000, "string") },
      primaryType: "Many",
      domain,
      message: { x: "a".repeat(100_000) },
    },
    "one long list": {
      types: { ...types, Many: fields(2_000, "bool[]") },
      primaryType: "Many",
      domain,
      message: { x: Array.from({ length: 5_000 }, () => true) },
    },
    "a long name in many types": {
      types: {
        ...types,
        Long: fields(1, "bool", "a".repeat(100_000)),
        ...Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`S${i}`, fields(1, "Long")])),
        All: Array.from({ length: 1_000 }, (_, i) => ({ name: `x${i}`, type: `S${i}` })),
      },
      primaryType: "All",
      domain,
      message: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`x${i}`, {}])),
    },
  };
}

test("typed data that takes more work than its bytes is refused, as a value and as text", () => {
  for (const [name, data] of Object.entries(hostileData())) {
    for (const value of [data, JSON.stringify(data)]) {
      assert.throws(() => hashOf(value), { code: "RPC_INVALID_PARAMS", details: { param: "typedData" } }, name);
    }
  }
});

test("typed data as text has the depth and the number of values of a request", () => {
  const message = { contents: Array.from({ length: 300_000 }, () => 0) };
  assert.throws(() => hashOf(JSON.stringify({ ...mail, message })), { code: "RPC_INVALID_PARAMS" });
  assert.throws(() => hashOf(`${"[".repeat(1_000_000)}`), { code: "RPC_INVALID_PARAMS" });
});

test("typed data of a chain of ten thousand types is hashed or refused, not too deep for the stack", () => {
  const chain = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`T${i}`, fields(1, `T${i + 1}`)]));
  const data = { types: { ...mail.types, ...chain }, primaryType: "T0", domain: mail.domain, message: {} };
  assert.equal(hashOf(data).length, 66);
});

test("typedDataHash visits a few hundred values between two steps", () => {
  let visited = 0;
  const count = TYPED_DATA_LIMITS.workMax / 2;
  const values = new Proxy(Array<number>(count).fill(1), {
    get(list, key, receiver) {
      if (typeof key === "string" && key !== "length") visited++;
      return Reflect.get(list, key, receiver);
    },
  });
  const types = { ...mail.types, List: fields(1, "uint8[]") };
  const steps = typedDataHash({ types, primaryType: "List", domain: mail.domain, message: { x: values } });
  let [most, before] = [0, 0];
  for (let step = steps.next(); !step.done; step = steps.next()) {
    most = Math.max(most, visited - before);
    before = visited;
  }
  assert.equal(visited, count);
  assert.ok(most <= 256, `${most} values in one step`);
});

test("eth_signTypedData_v4 and eth_sign look at the account before they read what is signed", async () => {
  const modules = createTestModules();
  let reads = 0;
  const counted = {
    get types() {
      reads++;
      return mail.types;
    },
  };
  await assert.rejects(signTypedDataV4.call(modules, [BOB, counted]), { code: "ACCOUNT_UNKNOWN" });
  assert.equal(reads, 0);
  const { keys, sessions, settings } = modules;
  const counting = {
    keys,
    sessions,
    settings: {
      get chainName() {
        reads++;
        return settings.chainName;
      },
    },
  };
  await assert.rejects(sign.call(counting, [BOB, "0x00"]), { code: "ACCOUNT_UNKNOWN" });
  assert.equal(reads, 0);
});
