import { createHmac, pbkdf2Sync } from "node:crypto";
import { compressPublicKey } from "../../base/crypto/compressed-public-key.ts";
import { addressFromPrivateKey, publicKeyFromPrivate, SECP256K1_ORDER } from "../../base/crypto/secp256k1.ts";
import type { Address } from "../../base/primitives/address.ts";
import { bigintToFixedBytes, bytesToBigint, concatBytes } from "../../base/primitives/bytes.ts";
import { bytesToHex, type Hex } from "../../base/primitives/hex.ts";
import { FIRST_ADDRESSES, FIRST_KEYS } from "../../dev/first-dev-keys.ts";

/** The mnemonic of all dev nodes; its keys are public and hold nothing of value on any other chain. */
export const DEV_PHRASE = "test test test test test test test test test test test junk";

/** Path of the accounts, without the final index. */
const DEV_DERIVATION_PATH = "m/44'/60'/0'/0";

/** The wallet from which a dev chain's accounts are derived. */
export type DevWallet = {
  /** BIP-39 */
  readonly phrase: string;
  /** See `DEV_DERIVATION_PATH`. */
  readonly path: string;
};

export const DEV_WALLET: DevWallet = { phrase: DEV_PHRASE, path: DEV_DERIVATION_PATH };

export const DEV_CHAIN_ID = 31337n;

/** 10,000 ether, in wei. */
export const DEV_BALANCE = 10_000n * 10n ** 18n;

export type DevAccount = { readonly address: Address; readonly privateKey: Hex };

export const DEV_ACCOUNTS: readonly DevAccount[] = FIRST_ADDRESSES.map((address, index) => ({
  address,
  privateKey: FIRST_KEYS[index]!,
}));

export function isSameWallet(a: DevWallet, b: DevWallet): boolean {
  return a.phrase === b.phrase && a.path === b.path;
}

export function devAccounts(count: number, wallet = DEV_WALLET): readonly DevAccount[] {
  const known = isSameWallet(wallet, DEV_WALLET) ? DEV_ACCOUNTS : [];
  if (count <= known.length) return known.slice(0, count);
  const seed = pbkdf2Sync(wallet.phrase.normalize("NFKD"), "mnemonic", 2048, 64, "sha512");
  let parent = split(createHmac("sha512", "Bitcoin seed").update(seed).digest());
  for (const component of wallet.path.split("/").slice(1)) {
    parent = child(parent, Number.parseInt(component, 10) + (component.endsWith("'") ? HARDENED : 0));
  }
  const accounts = [...known];
  for (let index = known.length; index < count; index++) {
    const { key } = child(parent, index);
    accounts.push({ address: addressFromPrivateKey(key), privateKey: bytesToHex(key) });
  }
  return accounts;
}

type ExtendedKey = { readonly key: Uint8Array; readonly chainCode: Uint8Array };

const HARDENED = 2 ** 31;

/** CKDpriv of BIP-32; it ignores invalid keys, whose probability is 2^-127. */
function child({ key, chainCode }: ExtendedKey, index: number): ExtendedKey {
  const data = index >= HARDENED ? concatBytes(new Uint8Array(1), key) : compressPublicKey(publicKeyFromPrivate(key));
  const indexBytes = bigintToFixedBytes(BigInt(index), 4);
  const digest = createHmac("sha512", chainCode).update(data).update(indexBytes).digest();
  const { key: tweak, chainCode: childCode } = split(digest);
  const sum = (bytesToBigint(tweak) + bytesToBigint(key)) % SECP256K1_ORDER;
  return { key: bigintToFixedBytes(sum, 32), chainCode: childCode };
}

function split(digest: Uint8Array): ExtendedKey {
  return { key: digest.subarray(0, 32), chainCode: digest.subarray(32) };
}
