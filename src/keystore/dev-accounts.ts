import { createHmac, pbkdf2Sync } from "node:crypto";
import { addressFromPrivateKey, publicKeyFromPrivate, SECP256K1_ORDER } from "../crypto/secp256k1.ts";
import type { Address } from "../primitives/address.ts";
import { bigintToFixedBytes, bytesToBigint, concatBytes } from "../primitives/bytes.ts";
import { bytesToHex, type Hex } from "../primitives/hex.ts";

/** The phrase every dev node uses; the keys it makes are known to everyone and hold nothing of value on any other chain. */
export const DEV_PHRASE = "test test test test test test test test test test test junk";

/** Of the accounts, without the index that ends it. */
export const DEV_DERIVATION_PATH = "m/44'/60'/0'/0";

/** What the accounts of a dev chain are derived from. */
export type DevWallet = {
  /** BIP-39 */
  readonly phrase: string;
  /** As `DEV_DERIVATION_PATH`. */
  readonly path: string;
};

export const DEV_WALLET: DevWallet = { phrase: DEV_PHRASE, path: DEV_DERIVATION_PATH };

export const DEV_CHAIN_ID = 31337n;

/** 10,000 ether, in wei. */
export const DEV_BALANCE = 10_000n * 10n ** 18n;

export type DevAccount = { readonly address: Address; readonly privateKey: Hex };

/**
 * The first ten accounts of `DEV_PHRASE`, written out so that a start derives nothing: PBKDF2 and ten derivations would
 * be a quarter of the time to the first answer. The test derives them.
 */
const FIRST_KEYS: readonly Hex[] = [
  "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
  "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
  "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
  "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
  "0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a",
  "0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba",
  "0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e",
  "0x4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356",
  "0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97",
  "0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6",
];
const FIRST_ADDRESSES = [
  "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
  "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
  "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc",
  "0x90f79bf6eb2c4f870365e785982e1f101e93b906",
  "0x15d34aaf54267db7d7c367839aaf71a00a2c6a65",
  "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc",
  "0x976ea74026e726554db657fa54763abd0c3a0aa9",
  "0x14dc79964da2c08b23698b3d3cc7ca32193d9955",
  "0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f",
  "0xa0ee7a142d267c1f36714e4a8f75612f20a79720",
] as readonly string[] as readonly Address[];

export const DEV_ACCOUNTS: readonly DevAccount[] = FIRST_ADDRESSES.map((address, index) => ({
  address,
  privateKey: FIRST_KEYS[index]!,
}));

export function isSameWallet(a: DevWallet, b: DevWallet): boolean {
  return a.phrase === b.phrase && a.path === b.path;
}

/** Accounts 0 to `count` − 1 of `wallet`. */
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

/** A private key of BIP-32 and its chain code. */
type ExtendedKey = { readonly key: Uint8Array; readonly chainCode: Uint8Array };

const HARDENED = 2 ** 31;

/** CKDpriv of BIP-32; the invalid keys it allows for have a chance of 2^-127. */
function child({ key, chainCode }: ExtendedKey, index: number): ExtendedKey {
  const data = index >= HARDENED ? concatBytes(new Uint8Array(1), key) : compressedPublicKey(key);
  const indexBytes = bigintToFixedBytes(BigInt(index), 4);
  const digest = createHmac("sha512", chainCode).update(data).update(indexBytes).digest();
  const { key: tweak, chainCode: childCode } = split(digest);
  const sum = (bytesToBigint(tweak) + bytesToBigint(key)) % SECP256K1_ORDER;
  return { key: bigintToFixedBytes(sum, 32), chainCode: childCode };
}

function split(digest: Uint8Array): ExtendedKey {
  return { key: digest.subarray(0, 32), chainCode: digest.subarray(32) };
}

function compressedPublicKey(key: Uint8Array): Uint8Array {
  const point = publicKeyFromPrivate(key);
  const prefix = Uint8Array.of((point[63]! & 1) === 0 ? 2 : 3);
  return concatBytes(prefix, point.subarray(0, 32));
}
