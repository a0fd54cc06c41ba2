import assert from "node:assert/strict";
import { test } from "node:test";
import { ALICE, BOB, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { recoverAddress } from "../../../base/crypto/secp256k1.ts";
import { bytesToBigint } from "../../../base/primitives/bytes.ts";
import { type Hex, hexToBytes } from "../../../base/primitives/hex.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import type { KeysPort } from "../../ports/keys.ts";
import { personalSign } from "../personal/signing.ts";
import { sign } from "./sign.ts";

const modules = createTestModules();
const message = "0x68656c6c6f";

/** Who made the 65-byte signature of the text "hello". */
function signerOf(signature: unknown, name: string) {
  const bytes = hexToBytes(signature as Hex);
  const digest = keccak256(Buffer.from(`\u0019${name} Signed Message:\n5hello`));
  const [r, s] = [bytes.subarray(0, 32), bytes.subarray(32, 64)].map(bytesToBigint);
  return recoverAddress(digest, r!, s!, (bytes[64]! - 27) as 0 | 1);
}

test("eth_sign and personal_sign sign the prefixed message; v is 27 or 28", async () => {
  for (const signature of [
    await sign.call(modules, [ALICE, message]),
    await personalSign.call(modules, [message, ALICE]),
    await personalSign.call(modules, [message, ALICE, null]),
  ]) {
    assert.equal(signerOf(signature, "Ethereum"), ALICE);
  }
});

test("the prefix carries the chain's name", async () => {
  const signature = await sign.call(createTestModules({ settings: { chainName: "Evmint" } }), [ALICE, message]);
  assert.equal(signerOf(signature, "Evmint"), ALICE);
});

test("personal_sign with a passphrase asks the key store", async () => {
  const asked: unknown[] = [];
  const signWithPassphrase: KeysPort["signWithPassphrase"] = async (input) => {
    asked.push(input.address, input.passphrase);
    return modules.keys.sign({ address: ALICE, digest: input.digest });
  };
  const withKeys = createTestModules({ keys: { signWithPassphrase } });
  await personalSign.call(withKeys, [message, BOB, "secret"]);
  assert.deepEqual(asked, [BOB, "secret"]);
});

test("eth_sign refuses accounts the node does not hold", async () => {
  await assert.rejects(sign.call(modules, [BOB, message]), { code: "ACCOUNT_UNKNOWN" });
});

test("personal_sign is private, eth_sign is not", () => {
  assert.deepEqual([personalSign.isPrivate, sign.isPrivate], [true, false]);
});
