import assert from "node:assert/strict";
import { createCipheriv, scryptSync } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { hexToBytes } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { DEV_ACCOUNTS } from "./dev-accounts.ts";
import { decryptKey, encryptKey, parseKeyFile, renderKeyFile } from "./key-file.ts";
import { KeyDerivation } from "./passphrases.ts";

const fixtures = process.env["EVMINT_FIXTURES"] ?? "../shared/fixtures";
const vectors = join(fixtures, "ethereum-tests/KeyStoreTests/basic_tests.json");
const derivation = new KeyDerivation();
const alice = DEV_ACCOUNTS[0]!;

test("decryptKey opens the official key store vectors", {
  skip: !existsSync(vectors) && `no ${vectors}: the key store vectors were left out`,
}, async () => {
  type Vector = { json: unknown; password: string; priv: string };
  const cases = Object.entries(JSON.parse(readFileSync(vectors, "utf8")) as Record<string, Vector>);
  assert.ok(cases.length >= 5);
  for (const [name, { json, password, priv }] of cases) {
    const file = parseKeyFile(JSON.stringify(json));
    const privateKey = await decryptKey(file, password, derivation);
    assert.equal(Buffer.from(privateKey).toString("hex"), priv, name);
    // Only where a try is cheap.
    if (file.params.kdf === "scrypt" && file.params.n > 2 ** 14) continue;
    await assert.rejects(decryptKey(file, `${password} `, derivation), {
      code: "KEY_WRONG_PASSPHRASE",
    });
  }
});

/** A light file as JSON that a test can spoil. */
async function lightFile() {
  const file = await encryptKey(hexToBytes(alice.privateKey), "pass", "light", derivation);
  return JSON.parse(renderKeyFile(file, "11111111-2222-4333-8444-555555555555"));
}

test("parseKeyFile refuses parameters that would take the machine's memory or time", async () => {
  const hostile: Record<string, unknown>[] = [
    { n: 2 ** 40 },
    { n: 2 ** 30 },
    { n: 2 ** 20, r: 8 },
    { r: 2 ** 20 },
    { r: 1e12 },
    { p: 2 ** 20 },
    { p: 1e15 },
    { n: 4095 },
    { n: 1 },
    { n: 0 },
    { n: -4096 },
    { n: "4096" },
    { dklen: 16 },
    { dklen: 1e9 },
    { salt: "00".repeat(2000) },
    { salt: "xyz" },
  ];
  for (const params of hostile) {
    const json = await lightFile();
    Object.assign(json.crypto.kdfparams, params);
    const text = JSON.stringify(json);
    assert.throws(() => parseKeyFile(text), { code: "KEY_FILE_INVALID" }, text);
  }
  const pbkdf2 = await lightFile();
  pbkdf2.crypto.kdf = "pbkdf2";
  pbkdf2.crypto.kdfparams = { c: 1e12, dklen: 32, prf: "hmac-sha256", salt: "00" };
  assert.throws(() => parseKeyFile(JSON.stringify(pbkdf2)), { code: "KEY_FILE_INVALID" });
});

test("parseKeyFile refuses what is no key file", async () => {
  const { crypto } = await lightFile();
  const spoilt = [
    "",
    "null",
    "[]",
    "{}",
    alice.privateKey,
    JSON.stringify({ version: 2, crypto }),
    JSON.stringify({ version: 3 }),
    JSON.stringify({ version: 3, crypto: { ...crypto, cipher: "aes-256-gcm" } }),
    JSON.stringify({ version: 3, crypto: { ...crypto, kdf: "argon2" } }),
    JSON.stringify({ version: 3, crypto: { ...crypto, mac: "00" } }),
    JSON.stringify({ version: 3, crypto, address: "12" }),
  ];
  for (const text of spoilt) {
    assert.throws(() => parseKeyFile(text), { code: "KEY_FILE_INVALID" }, text);
  }
});

test("parseKeyFile never quotes what it was given: it may be a private key", () => {
  assert.throws(
    () => parseKeyFile(alice.privateKey),
    (error: Error) => !`${error.message} ${error.stack} ${String(error.cause)}`.includes(alice.privateKey.slice(2, 10)),
  );
});

test("decryptKey notices a damaged iv and a wrong address, which the MAC does not cover", async () => {
  const damaged = await lightFile();
  damaged.crypto.cipherparams.iv = "00".repeat(16);
  await assert.rejects(decryptKey(parseKeyFile(JSON.stringify(damaged)), "pass", derivation), {
    code: "KEY_MISMATCH",
  });
  const renamed = { ...(await lightFile()), address: "00".repeat(20) };
  await assert.rejects(decryptKey(parseKeyFile(JSON.stringify(renamed)), "pass", derivation), {
    code: "KEY_MISMATCH",
  });
});

test("decryptKey opens MyEtherWallet's spelling and files without an address", async () => {
  const { crypto, address: _, ...rest } = await lightFile();
  const file = parseKeyFile(JSON.stringify({ ...rest, Crypto: crypto }));
  assert.equal(file.address, undefined);
  assert.deepEqual(Buffer.from(await decryptKey(file, "pass", derivation)), Buffer.from(hexToBytes(alice.privateKey)));
});

test("decryptKey opens version 1 files", async () => {
  const salt = Buffer.alloc(32, 7);
  const iv = Buffer.alloc(16, 9);
  const derived = scryptSync("pass", salt, 32, { N: 1024, r: 8, p: 1 });
  const key = keccak256(derived.subarray(0, 16)).subarray(0, 16);
  const cipher = createCipheriv("aes-128-cbc", key, iv);
  const ciphertext = Buffer.concat([cipher.update(hexToBytes(alice.privateKey)), cipher.final()]);
  const mac = keccak256(Buffer.concat([derived.subarray(16, 32), ciphertext]));
  const json = {
    address: alice.address.slice(2),
    Crypto: {
      cipher: "aes-128-cbc",
      ciphertext: ciphertext.toString("hex"),
      cipherparams: { iv: iv.toString("hex") },
      kdf: "scrypt",
      kdfparams: { n: 1024, r: 8, p: 1, dklen: 32, salt: salt.toString("hex") },
      mac: Buffer.from(mac).toString("hex"),
    },
    version: "1",
  };
  const opened = await decryptKey(parseKeyFile(JSON.stringify(json)), "pass", derivation);
  assert.deepEqual(Buffer.from(opened), Buffer.from(hexToBytes(alice.privateKey)));
});
