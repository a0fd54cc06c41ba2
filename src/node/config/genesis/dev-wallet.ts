import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../../../store/storage/make-folder.ts";
import { readJsonFile } from "../../../store/storage/read-file.ts";
import { createFile } from "../../../store/storage/replace-file.ts";
import { DEV_WALLET, type DevWallet, isSameWallet } from "../../keystore/dev-accounts.ts";
import type { Config } from "../config.ts";
import { InvalidConfigError, invalidSetting } from "../errors.ts";
import { CONFIG_FILE_BYTES_MAX, devGenesisPath, devWalletPath, forkPointPath, isInMemory } from "../home.ts";
import { derivationPath } from "../value-types.ts";

type DevConfig = Pick<Config, "dev" | "home" | "devChain">;

/**
 * The mnemonic and path of the home's dev accounts, from `config/dev-wallet.json`. The first start writes that file if settings name another
 * wallet than the public one. It is separate from the genesis, which users share, while a mnemonic may be private.
 * @throws InvalidConfigError if the settings contradict the existing chain, or the file is damaged
 */
export function openDevWallet(config: DevConfig): DevWallet {
  const { home, devChain } = config;
  const { mnemonic, derivationPath: path } = devChain;
  const asked = { phrase: mnemonic ?? DEV_WALLET.phrase, path: path ?? DEV_WALLET.path };
  if (isInMemory(config)) return asked;
  const file = devWalletPath(home);
  const isNew = ![file, devGenesisPath(home), forkPointPath(home)].some((each) => existsSync(each));
  if (isNew) {
    if (!isSameWallet(asked, DEV_WALLET)) {
      makeFolder(dirname(file));
      createFile(file, `${JSON.stringify({ mnemonic: asked.phrase, derivationPath: asked.path }, null, 2)}\n`, 0o600);
    }
    return asked;
  }
  const stored = existsSync(file) ? readWallet(file) : DEV_WALLET;
  const fail = (key: string) =>
    invalidSetting(
      key,
      `the accounts of the dev chain in ${home} come from a different value; omit the setting to resume that chain, or choose another --home`,
    );
  if (mnemonic !== null && mnemonic !== stored.phrase) throw fail("mnemonic");
  if (path !== null && path !== stored.path) throw fail("derivation-path");
  return stored;
}

/** @throws InvalidConfigError */
function readWallet(file: string): DevWallet {
  const fail = (cause?: unknown) =>
    new InvalidConfigError(`${file} is not a dev chain's wallet with "mnemonic" and "derivationPath"`, {}, { cause });
  try {
    const json = readJsonFile(file, { bytesMax: CONFIG_FILE_BYTES_MAX }) as {
      mnemonic?: unknown;
      derivationPath?: unknown;
    } | null;
    const path = typeof json?.derivationPath === "string" ? derivationPath.parse(json.derivationPath) : undefined;
    if (typeof json?.mnemonic === "string" && path !== undefined) return { phrase: json.mnemonic, path };
  } catch (error) {
    throw fail(error);
  }
  throw fail();
}

/**
 * A misspelt mnemonic would silently yield different accounts.
 * @throws InvalidConfigError
 */
export async function assertPhrase({ devChain: { mnemonic } }: Pick<Config, "devChain">): Promise<void> {
  if (mnemonic === null || mnemonic === DEV_WALLET.phrase) return;
  const { validateMnemonic } = await import("@scure/bip39");
  const { wordlist } = await import("@scure/bip39/wordlists/english.js");
  const key = "mnemonic";
  const unknown = mnemonic.split(" ").find((word) => !wordlist.includes(word));
  if (unknown !== undefined)
    throw invalidSetting(key, `${JSON.stringify(unknown)} is not in BIP-39's English word list`);
  if (!validateMnemonic(mnemonic, wordlist))
    throw invalidSetting(key, "not a BIP-39 mnemonic of 12 to 24 words with a valid checksum");
}
