import { readFileSync } from "node:fs";
import { type Address, checksumAddress, parseAddress } from "../../base/primitives/address.ts";
import { bytesToHex, type Hex, hexToBytes } from "../../base/primitives/hex.ts";
import { escapeControlsInLines } from "../../base/telemetry/escape-controls.ts";
import type { Config } from "../../node/config/config.ts";
import { keystorePath } from "../../node/config/home.ts";
import { KeyStore } from "../../node/keystore/keystore.ts";
import { type CliContext, openLog } from "../context.ts";
import { UsageError } from "../errors.ts";
import { openPassphrases, type PassphraseSource } from "../passphrases.ts";

/** What every `keys` command works with. */
type KeysSession = {
  readonly store: KeyStore;
  readonly passphrases: PassphraseSource;
  readonly context: CliContext;
};

export function openKeys(config: Config, passphraseFile: string | undefined, context: CliContext): KeysSession {
  const { strength, allowReadableByOthers } = config.keystore;
  const store = new KeyStore(
    { directory: keystorePath(config.home), strength, allowReadableByOthers },
    { log: openLog(config, context), now: context.now },
  );
  return { store, passphrases: openPassphrases(passphraseFile, context), context };
}

/** Makes a key; prints its address. */
export async function newKey({ store, passphrases, context }: KeysSession): Promise<void> {
  const { address } = await store.create(await passphrases.chosen("Passphrase of the new key"));
  print(context, checksumAddress(address));
}

/** One line a key: address and file. */
export async function listKeys({ store, context }: KeysSession): Promise<void> {
  for (const { address, path } of await store.list()) {
    print(context, `${checksumAddress(address)}  ${path}`);
  }
}

/** Takes a key from `file`: a key file made elsewhere, or a private key in hex. Prints its address. */
export async function importKey(session: KeysSession, file: string): Promise<void> {
  const { store, passphrases, context } = session;
  const text = readKeyText(file);
  if (text.startsWith("{")) {
    const old = await passphrases.existing("Passphrase of the file");
    const chosen = await passphrases.chosen("New passphrase");
    print(context, checksumAddress((await store.importFile(text, old, chosen)).address));
    return;
  }
  const privateKey = parsePrivateKey(text);
  try {
    const chosen = await passphrases.chosen("New passphrase");
    print(context, checksumAddress((await store.importKey(privateKey, chosen)).address));
  } finally {
    privateKey.fill(0);
  }
}

/** Prints a key file under another passphrase, or with `raw` the private key itself. */
export async function exportKey(
  { store, passphrases, context }: KeysSession,
  account: string,
  options: { readonly raw: boolean },
): Promise<void> {
  const address = readAddress(account);
  await store.find(address);
  const passphrase = await passphrases.existing("Passphrase of the key");
  if (!options.raw) {
    const chosen = await passphrases.chosen("Passphrase of the exported file");
    print(context, await store.exportFile(address, passphrase, chosen));
    return;
  }
  const privateKey = await store.privateKey(address, passphrase);
  context.stderr.write("Anyone who reads the next line controls the account.\n");
  print(context, bytesToHex(privateKey));
  privateKey.fill(0);
}

export async function deleteKey(session: KeysSession, account: string): Promise<void> {
  const { store, passphrases, context } = session;
  const address = readAddress(account);
  const { path } = await store.find(address);
  await store.delete(address, await passphrases.existing("Passphrase of the key to delete"));
  print(context, `deleted ${path}`);
}

export async function changePassphrase(session: KeysSession, account: string): Promise<void> {
  const { store, passphrases, context } = session;
  const address = readAddress(account);
  await store.find(address);
  const old = await passphrases.existing("Passphrase of the key");
  await store.changePassphrase(address, old, await passphrases.chosen("New passphrase"));
  print(context, checksumAddress(address));
}

function readAddress(text: string): Address {
  try {
    return parseAddress(text.startsWith("0x") ? text : `0x${text}`);
  } catch (cause) {
    throw new UsageError(`${text} is not an address`, {}, { cause });
  }
}

function readKeyText(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    // A private key typed where its file belongs must not be repeated in an error.
    const shown = /^(0x)?[0-9a-fA-F]{64}$/.test(file)
      ? "do not pass a private key as an argument; give a file"
      : `cannot read ${file}`;
    throw new UsageError(shown, {}, { cause: (cause as NodeJS.ErrnoException).code });
  }
}

function parsePrivateKey(text: string): Uint8Array {
  if (!/^(0x)?[0-9a-fA-F]{64}$/.test(text)) {
    throw new UsageError("the file is neither a key file nor 64 hex digits");
  }
  return hexToBytes(`0x${text.replace(/^0x/, "")}` as Hex);
}

function print({ stdout }: CliContext, line: string): void {
  stdout.write(`${escapeControlsInLines(line)}\n`);
}
