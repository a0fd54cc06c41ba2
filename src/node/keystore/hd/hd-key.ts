import type { HDKey } from "@scure/bip32";
import { addressFromPrivateKey } from "../../../base/crypto/secp256k1.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { WalletRequestError } from "../errors.ts";

/** BIP-44 for Ethereum: the base of relative paths. */
export const BASE_PATH = "m/44'/60'/0'/0";

/** BIP-32: the highest bit of a child number marks it as hardened. */
const HARDENED = 0x80000000;

/**
 * `text` as an absolute path in canonical form: `m/44'/60'/0'/0/3`, or `3` for the same. Numbers may be hex.
 * @throws WalletRequestError with geth's texts
 */
export function parseDerivationPath(text: string): string {
  const components = text.split("/").map((component) => component.trim());
  if (text.trim() === "") throw new WalletRequestError("empty derivation path");
  if (components[0] === "") {
    throw new WalletRequestError(
      "ambiguous path: use 'm/' prefix for absolute paths, or no leading '/' for relative ones",
    );
  }
  const isAbsolute = components[0] === "m";
  const children = isAbsolute ? components.slice(1) : components;
  if (children.length === 0) throw new WalletRequestError("empty derivation path");
  const path = children.map(parseChild).join("/");
  return isAbsolute ? `m/${path}` : `${BASE_PATH}/${path}`;
}

function parseChild(component: string): string {
  const isHardened = component.endsWith("'");
  const digits = (isHardened ? component.slice(0, -1) : component).trim();
  if (!/^(?:\d+|0x[0-9a-fA-F]+)$/.test(digits)) {
    throw new WalletRequestError(`invalid component: ${component}`);
  }
  const child = BigInt(digits);
  if (child >= HARDENED) {
    const highest = isHardened ? HARDENED - 1 : 2 ** 32 - 1;
    throw new WalletRequestError(
      `component ${child} out of allowed ${isHardened ? "hardened " : ""}range [0, ${highest}]`,
    );
  }
  return `${child}${isHardened ? "'" : ""}`;
}

// The libraries load with the first wallet: most nodes have none, and loading takes a tenth of the start.

/** The 24 English words (BIP-39) that encode 32 bytes of entropy. */
export async function phraseOf(entropy: Uint8Array): Promise<string> {
  const { entropyToMnemonic } = await import("@scure/bip39");
  const { wordlist } = await import("@scure/bip39/wordlists/english.js");
  return entropyToMnemonic(entropy, wordlist);
}

/** The root key (BIP-32) of a mnemonic without BIP-39 passphrase, as in wallets. */
export async function rootOf(phrase: string): Promise<HDKey> {
  const { HDKey } = await import("@scure/bip32");
  const { mnemonicToSeed } = await import("@scure/bip39");
  const seed = await mnemonicToSeed(phrase);
  try {
    return HDKey.fromMasterSeed(seed);
  } finally {
    seed.fill(0);
  }
}

/** The account and key at `path`; the caller owns the 32 bytes and wipes them. */
export function childOf(root: HDKey, path: string): { readonly address: Address; readonly privateKey: Uint8Array } {
  const child = root.derive(path);
  const privateKey = Uint8Array.from(child.privateKey!);
  child.wipePrivateData();
  return { address: addressFromPrivateKey(privateKey), privateKey };
}
