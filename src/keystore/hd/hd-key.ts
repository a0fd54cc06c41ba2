import type { HDKey } from "@scure/bip32";
import { addressFromPrivateKey } from "../../crypto/secp256k1.ts";
import type { Address } from "../../primitives/address.ts";

// The libraries are loaded with the first wallet: most nodes have none, and they take a tenth of the time to start.

/** The 24 English words (BIP-39) that stand for 32 bytes of entropy. */
export async function phraseOf(entropy: Uint8Array): Promise<string> {
  const { entropyToMnemonic } = await import("@scure/bip39");
  const { wordlist } = await import("@scure/bip39/wordlists/english.js");
  return entropyToMnemonic(entropy, wordlist);
}

/** The root key (BIP-32) of a phrase without BIP-39 passphrase, as wallets make it. */
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

/** The key at `path`, 32 bytes the caller owns and wipes, and its account. */
export function childOf(
  root: HDKey,
  path: string,
): { readonly address: Address; readonly privateKey: Uint8Array } {
  const child = root.derive(path);
  const privateKey = Uint8Array.from(child.privateKey!);
  child.wipePrivateData();
  return { address: addressFromPrivateKey(privateKey), privateKey };
}
