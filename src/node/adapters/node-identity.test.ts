import assert from "node:assert/strict";
import { test } from "node:test";
import { publicKeyFromPrivate, recoverPublicKey } from "../../base/crypto/secp256k1.ts";
import { bytesToBigint, equalBytes } from "../../base/primitives/bytes.ts";
import { hexDigits, hexToBytes } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { decodeRlp, encodeRlp } from "../../base/primitives/rlp.ts";
import { nodeIdentity } from "./node-identity.ts";

/** The example of EIP-778. */
const KEY = hexToBytes("0xb71c71a67e1177ad4e901695e1b4b9ee17ae16c6668d313eac2f96dbcda3f291");

test("nodeIdentity has the node id of EIP-778's example", () => {
  assert.equal(nodeIdentity(KEY).id, "a448f24c6d18e575453db13171562b71999873db5b286df957af199ec94617f7");
});

test("nodeIdentity's record is signed by the key it holds, its pairs sorted", () => {
  const { enr } = nodeIdentity(KEY);
  const bytes = Buffer.from(enr.slice("enr:".length), "base64url");
  assert.ok(bytes.length <= 300);
  const [signature, ...content] = decodeRlp(bytes) as Uint8Array[];
  const pairs = Object.fromEntries(
    content.slice(1).flatMap((item, at, all) => (at % 2 ? [] : [[hexDigits(item), all[at + 1]!]])),
  );
  const names = Object.keys(pairs).map((name) => Buffer.from(name, "hex").toString());
  assert.deepEqual(names, ["id", "ip", "secp256k1"]);
  assert.equal(
    hexDigits(pairs[Buffer.from("secp256k1").toString("hex")]!),
    "03ca634cae0d49acb401d8a4c6b6fe8c55b70d115bf400769cc1400f3258cd3138",
  );
  const digest = keccak256(encodeRlp(content));
  const r = bytesToBigint(signature!.subarray(0, 32));
  const s = bytesToBigint(signature!.subarray(32));
  const publicKey = publicKeyFromPrivate(KEY);
  assert.ok(
    ([0, 1] as const).some((parity) => {
      const found = recoverPublicKey(digest, r, s, parity);
      return found && equalBytes(found, publicKey);
    }),
  );
});
