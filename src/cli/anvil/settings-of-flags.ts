import { UsageError } from "../errors.ts";
import type { AnvilFlag } from "./flags.ts";
import { mnemonicOfSeed, randomMnemonic } from "./mnemonic.ts";
import { checkOthers, flagOf, formOf, type GivenFlags } from "./parse-flags.ts";
import type { Settings } from "./values.ts";

/** How the values of a flag that may be given several times are one setting. */
const SEPARATORS: Readonly<Record<string, string>> = { "dev.fork-url": ",", "fork-headers": "\n" };

/**
 * The settings that flags of anvil stand for.
 * @throws UsageError for a flag that this node cannot do, and for flags that cannot stand together
 */
export async function settingsOf(given: GivenFlags): Promise<Settings> {
  const settings: Record<string, string> = {};
  for (const [name, values] of given) {
    const flag = flagOf(name);
    checkOthers(flag, given);
    if (flag.refused !== undefined) throw new UsageError(`'${formOf(flag)}' is not supported: ${flag.refused}`);
    for (const value of values) {
      for (const [key, text] of Object.entries(settingsFrom(flag, value))) {
        const separator = SEPARATORS[key];
        const before = settings[key];
        settings[key] = separator !== undefined && before !== undefined ? `${before}${separator}${text}` : text;
      }
    }
  }
  const mnemonic = await mnemonicOf(given);
  return { ...settings, ...(mnemonic !== undefined && { mnemonic: mnemonic }) };
}

export function settingsFrom({ sets = {} }: AnvilFlag, value: string): Settings {
  if (typeof sets === "string") return { [sets]: value };
  return typeof sets === "function" ? sets(value) : sets;
}

async function mnemonicOf(given: GivenFlags): Promise<string | undefined> {
  const words = given.get("mnemonic-random")?.[0];
  if (words !== undefined) return randomMnemonic(Number(words));
  const seed = given.get("mnemonic-seed-unsafe")?.[0];
  return seed === undefined ? undefined : mnemonicOfSeed(BigInt(seed));
}
