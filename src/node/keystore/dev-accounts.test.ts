import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesToHex } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { createUnlockedSigner, devPrivateKeys } from "../../../test/support/node/keystore/unlocked-signer.ts";
import { recoverAddress } from "../../base/crypto/secp256k1.ts";
import { DEV_ACCOUNTS, DEV_PHRASE, devAccounts } from "./dev-accounts.ts";

test("devAccounts are the first accounts of the phrase, beyond the ten written out too", () => {
  const derived = Array.from({ length: 25 }, (_, addressIndex) => {
    const account = mnemonicToAccount(DEV_PHRASE, { addressIndex });
    const privateKey = bytesToHex(account.getHdKey().privateKey!);
    return { address: account.address.toLowerCase(), privateKey };
  });
  assert.deepEqual(devAccounts(25), derived);
  assert.deepEqual(DEV_ACCOUNTS, derived.slice(0, 10));
  assert.deepEqual(devAccounts(3), derived.slice(0, 3));
});

test("createUnlockedSigner signs for its accounts, in their order, and for no other", () => {
  const signer = createUnlockedSigner(devPrivateKeys());
  assert.deepEqual(
    signer.accounts(),
    DEV_ACCOUNTS.map(({ address }) => address),
  );
  const digest = new Uint8Array(32).fill(1);
  const address = DEV_ACCOUNTS[3]!.address;
  const { r, s, yParity } = signer.sign(address, digest);
  assert.equal(recoverAddress(digest, r, s, yParity), address);
  const stranger = `0x${"01".repeat(20)}` as typeof address;
  assert.throws(() => signer.sign(stranger, digest), { code: "ACCOUNT_UNKNOWN" });
});
