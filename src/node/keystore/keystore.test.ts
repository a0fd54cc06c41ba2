import assert from "node:assert/strict";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { decryptKeystoreJson, encryptKeystoreJson } from "ethers";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { addressFromPrivateKey } from "../../base/crypto/secp256k1.ts";
import { bytesToHex, hexToBytes } from "../../base/primitives/hex.ts";
import { createLogger } from "../../base/telemetry/create-logger.ts";
import { DEV_ACCOUNTS } from "./dev-accounts.ts";
import { KeyStore, type KeyStoreOptions } from "./keystore.ts";

const [alice, bob] = DEV_ACCOUNTS as [(typeof DEV_ACCOUNTS)[0], (typeof DEV_ACCOUNTS)[0]];
const aliceKey = hexToBytes(alice.privateKey);

let home: string;
let directory: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "evmint-keystore-"));
  directory = join(home, "keystore");
});
afterEach(() => rmSync(home, { recursive: true }));

function open(options: Partial<KeyStoreOptions> = {}): KeyStore {
  return new KeyStore(
    { directory, strength: "light", allowReadableByOthers: false, ...options },
    { log: STRICT_LOGGER, now: () => Date.UTC(2017, 4, 14, 10, 32, 1, 123) },
  );
}

test("KeyStore: a new key is listed, opens with its passphrase and no other", async () => {
  const store = open();
  const { address } = await store.create("pass");
  assert.deepEqual(
    (await store.list()).map((key) => key.address),
    [address],
  );
  assert.equal(addressFromPrivateKey(await store.privateKey(address, "pass")), address);
  await assert.rejects(store.privateKey(address, "Pass"), { code: "KEY_WRONG_PASSPHRASE" });
  await assert.rejects(store.privateKey(bob.address, "pass"), { code: "KEY_UNKNOWN" });
});

test("KeyStore names files as geth does, with mode 0600 in a folder of mode 0700, and leaves nothing else", async () => {
  mkdirSync(directory, { mode: 0o755 });
  const { path } = await open().importKey(aliceKey, "pass");
  assert.equal(basename(path), `UTC--2017-05-14T10-32-01.123000000Z--${alice.address.slice(2)}`);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(directory), [basename(path)]);
});

test("KeyStore writes the standard strength geth writes", async () => {
  const { path } = await open({ strength: "standard" }).importKey(aliceKey, "pass");
  const { crypto, version, address } = JSON.parse(readFileSync(path, "utf8"));
  const { n, r, p, dklen } = crypto.kdfparams;
  assert.deepEqual({ n, r, p, dklen }, { n: 262144, r: 8, p: 1, dklen: 32 });
  assert.equal(version, 3);
  assert.equal(address, alice.address.slice(2));
});

test("KeyStore and ethers read each other's files", async () => {
  const store = open();
  const { path } = await store.importKey(aliceKey, "naïve ключ");
  const theirs = await decryptKeystoreJson(readFileSync(path, "utf8"), "naïve ключ");
  assert.equal(theirs.privateKey, alice.privateKey);
  const foreign = await encryptKeystoreJson(bob, "pass", { scrypt: { N: 1024 } });
  assert.equal((await store.importFile(foreign, "pass", "other")).address, bob.address);
  assert.equal(bytesToHex(await store.privateKey(bob.address, "other")), bob.privateKey);
});

test("KeyStore refuses a second key of an account, also while the first is being written", async () => {
  const store = open();
  const both = await Promise.allSettled([store.importKey(aliceKey, "a"), store.importKey(aliceKey, "b")]);
  assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  await assert.rejects(store.importKey(aliceKey, "c"), { code: "KEY_EXISTS" });
  assert.equal((await store.list()).length, 1);
});

test("KeyStore finds files put there by hand, and says so when two hold one account", async () => {
  const store = open();
  const { path } = await store.importKey(aliceKey, "pass");
  const other = new KeyStore(
    { directory: join(home, "other"), strength: "light", allowReadableByOthers: false },
    { log: STRICT_LOGGER },
  );
  const foreign = await other.create("pass");
  copyFileSync(foreign.path, join(directory, "by-hand.json"));
  assert.equal((await store.list()).length, 2);
  copyFileSync(path, join(directory, "copy"));
  await assert.rejects(store.privateKey(alice.address, "pass"), { code: "KEY_AMBIGUOUS" });
  rmSync(path);
  assert.equal((await store.find(alice.address)).path, join(directory, "copy"));
});

test("KeyStore leaves out what is no key file, and warns without the content", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "warn", format: "json", write: (line) => lines.push(line) });
  const { path } = await open().importKey(aliceKey, "pass");
  const { address: _, ...anonymous } = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(join(directory, "raw-key"), alice.privateKey);
  writeFileSync(join(directory, "anonymous"), JSON.stringify(anonymous));
  writeFileSync(join(directory, "backup~"), readFileSync(path));
  writeFileSync(join(directory, ".hidden"), readFileSync(path));
  writeFileSync(join(directory, "huge"), "x".repeat(100_000));
  mkdirSync(join(directory, "folder"));
  symlinkSync(path, join(directory, "link"));
  const store = new KeyStore({ directory, strength: "light", allowReadableByOthers: false }, { log });
  assert.deepEqual(await store.list(), [{ address: alice.address, path }]);
  assert.equal((await store.list()).length, 1);
  assert.equal(lines.length, 3);
  assert.ok(!lines.join().includes(alice.privateKey.slice(2, 20)));
});

test("KeyStore refuses a key file others can read, unless that is allowed", async () => {
  const { path } = await open().importKey(aliceKey, "pass");
  chmodSync(path, 0o640);
  await assert.rejects(open().privateKey(alice.address, "pass"), { code: "KEY_FILE_LOOSE" });
  await open({ allowReadableByOthers: true }).privateKey(alice.address, "pass");
});

test("KeyStore changes a passphrase in place and deletes only for who knows it", async () => {
  const store = open();
  const { address, path } = await store.importKey(aliceKey, "old");
  await assert.rejects(store.changePassphrase(address, "wrong", "new"), {
    code: "KEY_WRONG_PASSPHRASE",
  });
  await store.changePassphrase(address, "old", "new");
  await assert.rejects(store.delete(address, "old"), { code: "KEY_WRONG_PASSPHRASE" });
  assert.equal((await store.find(address)).path, path);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await store.delete(address, "new");
  assert.deepEqual(await store.list(), []);
});

test("KeyStore tries one passphrase at a time and refuses more than a short queue", async () => {
  const store = open();
  const { address } = await store.importKey(aliceKey, "pass");
  const tries = await Promise.allSettled(Array.from({ length: 12 }, () => store.privateKey(address, "wrong")));
  const codes = tries.map((result) => (result.status === "rejected" ? result.reason.code : ""));
  assert.equal(codes.filter((code) => code === "KEY_DERIVATION_BUSY").length, 7);
  assert.equal(codes.filter((code) => code === "KEY_WRONG_PASSPHRASE").length, 5);
  await store.privateKey(address, "pass");
});
