import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { HDNodeWallet } from "ethers";
import { STRICT_LOGGER } from "../../../../test/support/base/telemetry/strict-logger.ts";
import { addressFromPrivateKey, recoverAddress } from "../../../base/crypto/secp256k1.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { bytesToHex, hexToBytes } from "../../../base/primitives/hex.ts";
import { UnlockForbiddenError } from "../errors.ts";
import { KeyDerivation, PassphraseTries } from "../passphrases.ts";
import { childOf, parseDerivationPath, phraseOf, rootOf } from "./hd-key.ts";
import { HdWallets } from "./hd-wallets.ts";
import { WalletDirectory } from "./wallet-file.ts";

const digest = new Uint8Array(32).fill(1);
const url = "hd://main";
let home: string;
let isExposed: boolean;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "evmint-hd-"));
  isExposed = false;
});
afterEach(() => rmSync(home, { recursive: true }));

function openWallets(): HdWallets {
  return new HdWallets("light", {
    directory: new WalletDirectory(join(home, "hd"), { allowReadableByOthers: false }),
    derivation: new KeyDerivation(),
    tries: new PassphraseTries(5),
    log: STRICT_LOGGER,
    observer: { wrongSecret() {} },
    assertUnlockAllowed() {
      if (isExposed) throw new UnlockForbiddenError("http://0.0.0.0:8545");
    },
  });
}

const statusOf = (wallets: HdWallets) => wallets.list()[0]?.status;
const wants = (text: string) => ({ code: "WALLET_REQUEST", message: text });
const secretsOf = (id = "main") => {
  const text = readFileSync(join(home, "hd", `${id}.secrets.txt`), "utf8");
  const find = (name: string) => new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1] ?? "";
  return { pairing: find("pairing password"), pin: find("PIN"), puk: find("PUK") };
};

test("the keys are those ethers derives from the same phrase", async () => {
  const phrase = await phraseOf(new Uint8Array(32).fill(3));
  assert.equal(phrase.split(" ").length, 24);
  const root = await rootOf(phrase);
  for (const path of ["m/44'/60'/0'/0/0", "m/44'/60'/0'/0/7", "m/0'/1"]) {
    const { address, privateKey } = childOf(root, path);
    const theirs = HDNodeWallet.fromPhrase(phrase, "", path);
    assert.equal(bytesToHex(privateKey), theirs.privateKey);
    assert.equal(address, theirs.address.toLowerCase());
  }
});

test("parseDerivationPath reads absolute and relative paths", () => {
  for (const [text, path] of [
    ["m/44'/60'/0'/0/3", "m/44'/60'/0'/0/3"],
    ["3", "m/44'/60'/0'/0/3"],
    ["0x10/1'", "m/44'/60'/0'/0/16/1'"],
    [" m / 1 ' ", "m/1'"],
  ] as const) {
    assert.equal(parseDerivationPath(text), path);
  }
  for (const text of ["", " ", "m", "/1", "m/", "m//1", "m/x", "m/-1", "m/1''", "m/2147483648", "1.5"]) {
    assert.throws(() => parseDerivationPath(text), { code: "WALLET_REQUEST" }, text);
  }
});

test("initialize makes a wallet that signs, and tells the first account's key once", async () => {
  const wallets = openWallets();
  const privateKey = await wallets.initialize(url);
  const address = addressFromPrivateKey(hexToBytes(privateKey));
  assert.deepEqual(wallets.list(), [
    { url, status: "Online", accounts: [{ address, url: `${url}/m/44'/60'/0'/0/0` }] },
  ]);
  const { r, s, yParity } = wallets.sign(address, digest)!;
  assert.equal(recoverAddress(digest, r, s, yParity), address);
  await assert.rejects(wallets.initialize(url), wants("card is already initialized, cowardly refusing to proceed"));
  for (const name of readdirSync(join(home, "hd"))) {
    assert.equal(statSync(join(home, "hd", name)).mode & 0o777, 0o600, name);
    const text = readFileSync(join(home, "hd", name), "utf8");
    assert.ok(!text.includes(privateKey.slice(2)), name);
  }
});

test("a wallet is opened by its PIN after a restart, and derives more accounts", async () => {
  const first = openWallets();
  await first.initialize(url);
  const { pin } = secretsOf();
  first.close();
  assert.equal(statusOf(first), "Locked, waiting for PIN (3 attempts left)");

  const wallets = openWallets();
  const [account] = wallets.accounts();
  assert.equal(wallets.sign(account!.address, digest), undefined);
  assert.throws(() => wallets.derive(url, "1", true), { code: "WALLET_REQUEST" });
  await assert.rejects(wallets.open(url, undefined), wants("smartcard: pin needed"));
  await wallets.open(url, pin);
  await assert.rejects(wallets.open(url, pin), wants("smartcard: already open"));
  assert.ok(wallets.sign(account!.address, digest));
  const pinned = wallets.derive(url, "m/44'/60'/0'/0/1", true);
  const loose = wallets.derive("keycard://main", "2", false);
  assert.equal(pinned.url, `${url}/m/44'/60'/0'/0/1`);
  assert.ok(wallets.sign(loose.address, digest));
  wallets.close();
  assert.deepEqual(
    openWallets()
      .accounts()
      .map(({ address }) => address),
    [account!.address, pinned.address],
  );
});

test("one call by PIN leaves the wallet closed", async () => {
  const wallets = openWallets();
  const privateKey = await wallets.initialize(url);
  const address = addressFromPrivateKey(hexToBytes(privateKey));
  wallets.closeWalletOf(address);
  const key = await wallets.privateKey(address, secretsOf().pin);
  assert.equal(bytesToHex(key), privateKey);
  assert.equal(wallets.sign(address, digest), undefined);
  await assert.rejects(wallets.privateKey(`0x${"00".repeat(20)}` as Address, "123456"), {
    code: "KEY_UNKNOWN",
  });
});

test("openWallet makes a wallet step by step: pairing, PIN, seed", async () => {
  const wallets = openWallets();
  await assert.rejects(wallets.open(url, undefined), wants("smartcard: pairing password needed"));
  await assert.rejects(wallets.open(url, "pair me"), wants("smartcard: pin needed"));
  assert.equal(statusOf(wallets), "Locked, waiting for PIN (3 attempts left)");
  await assert.rejects(wallets.open(url, "12345"), wants("smartcard: pin needed"));
  await assert.rejects(wallets.initialize(url), wants("smartcard: pin needed"));
  await wallets.open(url, "123456");
  assert.equal(statusOf(wallets), "Empty, waiting for initialization");
  const privateKey = await wallets.initialize(url);
  assert.equal(statusOf(wallets), "Online");
  wallets.close();
  await wallets.open(url, "123456");
  assert.ok(wallets.sign(addressFromPrivateKey(hexToBytes(privateKey)), digest));
});

test("three wrong PINs block, five wrong PUKs brick, the right PUK sets a new PIN", async () => {
  const wallets = openWallets();
  await wallets.initialize(url);
  const { puk, pin } = secretsOf();
  wallets.close();
  const wrongPin = pin === "000000" ? "000001" : "000000";
  for (const left of [2, 1]) {
    await assert.rejects(wallets.open(url, wrongPin), { code: "KEY_WRONG_PASSPHRASE" });
    assert.equal(statusOf(wallets), `Locked, waiting for PIN (${left} attempts left)`);
  }
  await wallets.open(url, pin);
  wallets.close();
  assert.equal(statusOf(wallets), "Locked, waiting for PIN (3 attempts left)");
  // Many at once gain nothing.
  await Promise.allSettled([1, 2, 3, 4, 5].map(() => wallets.open(url, wrongPin)));
  assert.equal(statusOf(wallets), "Blocked, waiting for PUK (5 attempts left) and new PIN");
  await assert.rejects(wallets.open(url, pin), wants("smartcard: pin unblock needed"));
  await wallets.open(url, `${puk}777777`);
  assert.equal(statusOf(wallets), "Online");
  wallets.close();
  await wallets.open(url, "777777");
  wallets.close();
  for (let i = 0; i < 3; i++) await assert.rejects(wallets.open(url, wrongPin));
  const wrongPuk = puk.startsWith("9") ? `8${puk.slice(1)}` : `9${puk.slice(1)}`;
  for (let i = 0; i < 5; i++) {
    await assert.rejects(wallets.open(url, `${wrongPuk}777777`), { code: "KEY_WRONG_PASSPHRASE" });
  }
  assert.equal(statusOf(wallets), "Bricked, waiting for full wipe");
  await assert.rejects(wallets.open(url, `${puk}777777`), { code: "WALLET_REQUEST" });
});

test("unpair takes the pairing password or the PIN; the wallet can be paired again", async () => {
  const wallets = openWallets();
  await wallets.initialize(url);
  const { pairing, pin } = secretsOf();
  await assert.rejects(wallets.unpair(url, "000"), { code: "WALLET_REQUEST" });
  await wallets.unpair(url, pairing);
  assert.equal(statusOf(wallets), "Unpaired, waiting for pairing password");
  assert.deepEqual(wallets.accounts(), []);
  await assert.rejects(wallets.unpair(url, pairing), wants("wallet hd://main not paired"));
  await assert.rejects(wallets.open(url, "not it"), { code: "KEY_WRONG_PASSPHRASE" });
  await assert.rejects(wallets.open(url, pairing), wants("smartcard: pin needed"));
  await wallets.open(url, pin);
  assert.equal(statusOf(wallets), "Online");
  await wallets.unpair(url, pin);
  assert.equal(statusOf(wallets), "Unpaired, waiting for pairing password");
  await assert.rejects(wallets.unpair("hd://other", "x"), { code: "WALLET_UNKNOWN" });
});

test("where others can reach the node no wallet is opened, and a new one stays locked", async () => {
  isExposed = true;
  const wallets = openWallets();
  await wallets.initialize(url);
  assert.equal(statusOf(wallets), "Locked, waiting for PIN (3 attempts left)");
  await assert.rejects(wallets.open(url, secretsOf().pin), { code: "ACCOUNT_UNLOCK_FORBIDDEN" });
});

test("two calls that make one wallet make it once", async () => {
  const wallets = openWallets();
  const made = await Promise.allSettled([wallets.initialize(url), wallets.initialize(url)]);
  assert.deepEqual(
    made.map(({ status }) => status),
    ["fulfilled", "rejected"],
  );
  const privateKey = (made[0] as PromiseFulfilledResult<`0x${string}`>).value;
  assert.equal(wallets.accounts()[0]!.address, addressFromPrivateKey(hexToBytes(privateKey)));
});

test("pairing passwords cannot be guessed at more than five times a minute", async () => {
  const wallets = openWallets();
  await wallets.initialize(url);
  await wallets.unpair(url, secretsOf().pairing);
  for (let i = 0; i < 5; i++) {
    await assert.rejects(wallets.open(url, `guess ${i}`), { code: "KEY_WRONG_PASSPHRASE" });
  }
  await assert.rejects(wallets.open(url, secretsOf().pairing), { code: "KEY_TOO_MANY_TRIES" });
});

test("a name that is no wallet's is unknown, wherever it points", async () => {
  const wallets = openWallets();
  for (const bad of ["hd://../x", "hd://A", "hd://", "hd://pairings", "hd://a b", "ledger://a"]) {
    await assert.rejects(wallets.initialize(bad), { code: "WALLET_UNKNOWN" }, bad);
  }
});
