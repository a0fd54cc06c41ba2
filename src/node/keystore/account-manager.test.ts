import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { recoverAddress } from "../../base/crypto/secp256k1.ts";
import type { Address } from "../../base/primitives/address.ts";
import { hexToBytes } from "../../base/primitives/hex.ts";
import { AccountManager } from "./account-manager.ts";
import { DEV_ACCOUNTS } from "./dev-accounts.ts";
import { UnlockForbiddenError } from "./errors.ts";
import { HdWallets } from "./hd/hd-wallets.ts";
import { WalletDirectory } from "./hd/wallet-file.ts";
import { KeyStore } from "./keystore.ts";
import { KeyDerivation, PassphraseTries } from "./passphrases.ts";
import { UnlockedKeys } from "./unlocked-keys.ts";

const [alice, bob] = DEV_ACCOUNTS as [(typeof DEV_ACCOUNTS)[0], (typeof DEV_ACCOUNTS)[0]];
const stranger = `0x${"99".repeat(20)}` as Address;
const digest = new Uint8Array(32).fill(1);

let home: string;
let clock: ManualTimers;
let isExposed: boolean;
const seen = { wrong: 0, refused: 0 };

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "evmint-accounts-"));
  clock = new ManualTimers();
  isExposed = false;
  Object.assign(seen, { wrong: 0, refused: 0 });
});
afterEach(() => rmSync(home, { recursive: true }));

function open(publicKeys: ReadonlyMap<Address, Uint8Array> = new Map()): AccountManager {
  const strength = "light";
  const allowReadableByOthers = false;
  const assertUnlockAllowed = () => {
    if (isExposed) throw new UnlockForbiddenError("http://0.0.0.0:8545");
  };
  const observer = { wrongSecret: () => seen.wrong++ };
  const tries = new PassphraseTries(5, { now: () => clock.now(), onRejected: () => seen.refused++ });
  return new AccountManager({
    keyStore: new KeyStore(
      { directory: join(home, "keystore"), strength, allowReadableByOthers },
      { log: STRICT_LOGGER },
    ),
    hdWallets: new HdWallets(strength, {
      directory: new WalletDirectory(join(home, "hdwallets"), { allowReadableByOthers }),
      derivation: new KeyDerivation(),
      tries,
      log: STRICT_LOGGER,
      observer,
      assertUnlockAllowed,
    }),
    unlocked: new UnlockedKeys(clock),
    tries,
    observer,
    publicKeys,
    assertUnlockAllowed,
    now: () => clock.now(),
  });
}

async function withAlice(): Promise<AccountManager> {
  const accounts = open();
  await accounts.importKey(hexToBytes(alice.privateKey), "pw");
  return accounts;
}

const sign = async (accounts: AccountManager, account: Address = alice.address) => accounts.sign(account, digest);

// The rows of the service's table of states, account key.

test("locked → unlocked: the right passphrase, for 300 seconds unless told otherwise", async () => {
  const accounts = await withAlice();
  await assert.rejects(sign(accounts), { code: "ACCOUNT_LOCKED" });
  await accounts.unlock(alice.address, "pw", 300);
  const { r, s, yParity } = await sign(accounts);
  assert.equal(recoverAddress(digest, r, s, yParity), alice.address);
  clock.advanceSync(299_999);
  await sign(accounts);
});

test("locked → locked: a wrong passphrase, or an account that is not there", async () => {
  const accounts = await withAlice();
  await assert.rejects(accounts.unlock(alice.address, "no", 300), { code: "KEY_WRONG_PASSPHRASE" });
  await assert.rejects(sign(accounts), { code: "ACCOUNT_LOCKED" });
  await assert.rejects(accounts.unlock(stranger, "pw", 300), { code: "KEY_UNKNOWN" });
  await assert.rejects(sign(accounts, stranger), { code: "ACCOUNT_UNKNOWN" });
});

test("unlocked → locked: the duration expires", async () => {
  const accounts = await withAlice();
  await accounts.unlock(alice.address, "pw", 2);
  clock.advanceSync(2000);
  await assert.rejects(sign(accounts), { code: "ACCOUNT_LOCKED" });
});

test("unlocked: duration 0 lasts until the node exits", async () => {
  const accounts = await withAlice();
  await accounts.unlock(alice.address, "pw", 0);
  clock.advanceSync(1e11);
  await sign(accounts);
  accounts.close();
  await assert.rejects(sign(accounts), { code: "ACCOUNT_LOCKED" });
});

test("unlocked → locked: lockAccount; it locks what is locked or unknown too", async () => {
  const accounts = await withAlice();
  await accounts.unlock(alice.address, "pw", 300);
  accounts.lock(alice.address);
  await assert.rejects(sign(accounts), { code: "ACCOUNT_LOCKED" });
  accounts.lock(alice.address);
  accounts.lock(stranger);
});

test("locked → locked: a signature by passphrase leaves the account locked", async () => {
  const accounts = await withAlice();
  const { r, s, yParity } = await accounts.signWithPassphrase(alice.address, "pw", digest);
  assert.equal(recoverAddress(digest, r, s, yParity), alice.address);
  await assert.rejects(sign(accounts), { code: "ACCOUNT_LOCKED" });
  await assert.rejects(accounts.signWithPassphrase(alice.address, "no", digest), {
    code: "KEY_WRONG_PASSPHRASE",
  });
});

test("a lock wins over an unlocking under way", async () => {
  const accounts = await withAlice();
  const unlocking = accounts.unlock(alice.address, "pw", 300);
  accounts.lock(alice.address);
  await assert.rejects(unlocking, { code: "ACCOUNT_LOCKED_MEANWHILE" });
  await assert.rejects(sign(accounts), { code: "ACCOUNT_LOCKED" });
});

test("nothing is unlocked while others can reach the node, and a listener opened meanwhile counts", async () => {
  const accounts = await withAlice();
  isExposed = true;
  await assert.rejects(accounts.unlock(alice.address, "pw", 300), {
    code: "ACCOUNT_UNLOCK_FORBIDDEN",
  });
  await accounts.signWithPassphrase(alice.address, "pw", digest);
  isExposed = false;
  const unlocking = accounts.unlock(alice.address, "pw", 300);
  isExposed = true;
  await assert.rejects(unlocking, { code: "ACCOUNT_UNLOCK_FORBIDDEN" });
  await assert.rejects(sign(accounts), { code: "ACCOUNT_LOCKED" });
});

test("a duration geth cannot count is refused", async () => {
  const accounts = await withAlice();
  await assert.rejects(accounts.unlock(alice.address, "pw", 9_223_372_037), {
    code: "ACCOUNT_UNLOCK_DURATION",
  });
});

test("after five wrong passphrases an account is not tried for a minute, others are", async () => {
  const accounts = await withAlice();
  await accounts.importKey(hexToBytes(bob.privateKey), "pw");
  for (let i = 0; i < 5; i++) {
    await assert.rejects(accounts.unlock(alice.address, `guess ${i}`, 1), {
      code: "KEY_WRONG_PASSPHRASE",
    });
  }
  const refused = { code: "KEY_TOO_MANY_TRIES" };
  await assert.rejects(accounts.unlock(alice.address, "pw", 1), refused);
  await assert.rejects(accounts.signWithPassphrase(alice.address, "pw", digest), refused);
  assert.deepEqual(seen, { wrong: 5, refused: 2 });
  await accounts.unlock(bob.address, "pw", 1);
  clock.advanceSync(60_000);
  await accounts.unlock(alice.address, "pw", 1);
});

test("public accounts come first, are unlocked from the start, and can be locked", async () => {
  const accounts = open(new Map([[bob.address, hexToBytes(bob.privateKey)]]));
  const created = await accounts.create("pw");
  assert.deepEqual(await accounts.accounts(), [bob.address, created]);
  await sign(accounts, bob.address);
  assert.deepEqual(accounts.unlockedAccounts(), []);
  accounts.lock(bob.address);
  await assert.rejects(sign(accounts, bob.address), { code: "ACCOUNT_LOCKED" });
  await accounts.unlock(bob.address, "anything", 300);
  await sign(accounts, bob.address);
});

test("a key file put there by hand is found within two seconds, one of our own at once", async () => {
  const accounts = open();
  assert.deepEqual(await accounts.accounts(), []);
  await (await withAlice()).accounts();
  assert.deepEqual(await accounts.accounts(), []);
  await assert.rejects(sign(accounts), { code: "ACCOUNT_UNKNOWN" });
  clock.advanceSync(2000);
  assert.deepEqual(await accounts.accounts(), [alice.address]);
  await accounts.importKey(hexToBytes(bob.privateKey), "pw");
  assert.equal((await accounts.accounts()).length, 2);
});

test("wallets shows each key file with its state", async () => {
  const accounts = await withAlice();
  const [wallet] = await accounts.wallets();
  assert.match(wallet!.url, /^keystore:\/\/\/.*UTC--.*f39fd6e51aad88f6f4ce6ab8827279cfffb92266$/);
  assert.deepEqual(wallet, {
    url: wallet!.url,
    status: "Locked",
    accounts: [{ address: alice.address, url: wallet!.url }],
  });
  await accounts.unlock(alice.address, "pw", 300);
  assert.equal((await accounts.wallets())[0]!.status, "Unlocked");
  assert.deepEqual(accounts.unlockedAccounts(), [alice.address]);
});

test("a wallet URL without scheme, or of a key file where an HD wallet is meant, is refused", async () => {
  const accounts = await withAlice();
  const url = (await accounts.wallets())[0]!.url;
  await assert.rejects(accounts.hdWalletsFor("main", undefined), { code: "WALLET_REQUEST" });
  await assert.rejects(accounts.hdWalletsFor("keystore:///nowhere", "not supported"), {
    code: "WALLET_UNKNOWN",
  });
  await assert.rejects(accounts.hdWalletsFor(url, "not supported"), { message: "not supported" });
  assert.equal(await accounts.hdWalletsFor(url, undefined), undefined);
  assert.ok(await accounts.hdWalletsFor("hd://main", "not supported"));
});
