import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { decryptKeystoreJson, encryptKeystoreJson } from "ethers";
import { foundryBinary } from "../../bench/support/peers.ts";
import { parseAddress } from "../../src/base/primitives/address.ts";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { KeyStore } from "../../src/node/keystore/keystore.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { STRICT_LOGGER } from "../support/base/telemetry/strict-logger.ts";

const binary = foundryBinary("cast");
const skip = binary ? false : "no cast binary for this platform on npm";
const folder = mkdtempSync(join(tmpdir(), "evmint-key-files-"));
after(() => rmSync(folder, { recursive: true }));

const open = (directory: string) =>
  new KeyStore({ directory, strength: "light", allowReadableByOthers: false }, { log: STRICT_LOGGER });

async function cast(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(binary!, ["wallet", ...args])).stdout.trim();
}

test("cast opens a key file of ours", { skip }, async () => {
  const directory = join(folder, "ours");
  const { path } = await open(directory).importKey(hexToBytes(DEV_KEYS[0]), "pass word");
  const told = await cast(
    ...["decrypt-keystore", basename(path)],
    ...["--keystore-dir", directory, "--unsafe-password", "pass word"],
  );
  assert.ok(told.endsWith(DEV_KEYS[0]));
});

test("we open a key file of cast's, which keeps its address to itself", { skip }, async () => {
  const directory = join(folder, "theirs");
  await cast(
    ...["import", "mine", "--keystore-dir", directory],
    ...["--private-key", DEV_KEYS[1], "--unsafe-password", "pass word"],
  );
  const text = readFileSync(join(directory, "mine"), "utf8");
  const store = open(join(folder, "imported"));
  await assert.rejects(store.importFile(text, "wrong", "new"), { code: "KEY_WRONG_PASSPHRASE" });
  const { address } = await store.importFile(text, "pass word", "new");
  assert.equal(address, DEV_ADDRESSES[1].toLowerCase());
  assert.equal(bytesToHex(await store.privateKey(address, "new")), DEV_KEYS[1]);
});

test("ethers opens a key file of ours, and its own file works where we find it", async () => {
  const directory = join(folder, "ethers");
  const store = open(directory);
  const { path } = await store.importKey(hexToBytes(DEV_KEYS[0]), "pässwörd");
  const account = await decryptKeystoreJson(readFileSync(path, "utf8"), "pässwörd");
  assert.deepEqual([account.address, account.privateKey], [DEV_ADDRESSES[0], DEV_KEYS[0]]);
  const theirs = await encryptKeystoreJson({ address: DEV_ADDRESSES[1], privateKey: DEV_KEYS[1] }, "pässwörd", {
    scrypt: { N: 4096, r: 8, p: 1 },
  });
  const file = join(directory, "UTC--2026-01-01T00-00-00.000000000Z--ethers");
  writeFileSync(file, theirs);
  chmodSync(file, 0o600);
  assert.equal(readdirSync(directory).length, 2);
  const address = parseAddress(DEV_ADDRESSES[1]);
  assert.equal(bytesToHex(await store.privateKey(address, "pässwörd")), DEV_KEYS[1]);
});
