import assert from "node:assert/strict";
import { test } from "node:test";
import { TypedDataEncoder } from "ethers";
import { recoverAddress } from "../../../crypto/secp256k1.ts";
import { bytesToBigint } from "../../../primitives/bytes.ts";
import { bytesToHex, type Hex, hexToBytes } from "../../../primitives/hex.ts";
import { ALICE, createTestModules } from "../../testing/test-chain.ts";
import { signTypedDataV4 } from "./sign.ts";
import { typedDataHash } from "./typed-data.ts";

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
  assert.equal(bytesToHex(typedDataHash(mail)), expected);
  assert.equal(bytesToHex(typedDataHash(JSON.stringify(mail))), expected);
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
    bytesToHex(typedDataHash({ types: { ...types, EIP712Domain }, primaryType: "All", domain, message })),
    TypedDataEncoder.hash(domain, types, message),
  );
});

test("eth_signTypedData_v4 signs the hash", async () => {
  const modules = createTestModules();
  const signature = hexToBytes((await signTypedDataV4.call(modules, [ALICE, mail])) as Hex);
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32, 64)].map(bytesToBigint);
  const parity = (signature[64]! - 27) as 0 | 1;
  assert.equal(recoverAddress(typedDataHash(mail), r!, s!, parity), ALICE);
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
  ]) {
    assert.throws(() => typedDataHash(bad), { code: "RPC_TYPED_DATA" });
  }
});
