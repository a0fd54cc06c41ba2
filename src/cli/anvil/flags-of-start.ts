import { type Command, Option } from "commander";
import type { ChainStatus } from "../../node/roles/types.ts";
import { UsageError } from "../errors.ts";
import { writeConfigOut } from "./config-out.ts";
import { ANVIL_FLAGS, type AnvilFlag } from "./flags.ts";
import { read, type GivenFlags as ValuesOfFlags } from "./parse-flags.ts";
import { settingsOf } from "./settings-of-flags.ts";
import type { Settings } from "./values.ts";

/** Flags that only mean something beside anvil's own output and listeners. */
const NOT_OF_START = new Set(["color", "quiet", "port"]);

/** Values of one command's flags as commander gives them. */
type Flags = Readonly<Record<string, unknown>>;

/** Flags of a command line, as `--name`, or every flag there is. */
export type GivenFlags = ReadonlySet<string> | undefined;

/** Stands for all short flags, since one argument may contain several. */
export const ANY_SHORT_FLAG = "-";

export function isGiven(flags: GivenFlags, name: string, short?: string): boolean {
  return flags === undefined || flags.has(`--${name}`) || (short !== undefined && flags.has(ANY_SHORT_FLAG));
}

/**
 * Adds those of anvil's flags that are `given` to `command`. Flags that the command already has keep their more general forms. Hidden, because `--help` is for
 * newcomers; `--help-all` shows them.
 */
export function withAnvilFlags(
  command: Command,
  { isShown, given }: { readonly isShown: boolean; readonly given: GivenFlags },
): Command {
  const own = new Set(command.options.map(({ long }) => long));
  for (const flag of ANVIL_FLAGS) {
    for (const [i, name] of namesOf(flag).entries()) {
      if (own.has(`--${name}`) || !isGiven(given, name, i === 0 ? flag.short : undefined)) continue;
      const option = new Option(
        `${i === 0 && flag.short ? `-${flag.short}, ` : ""}--${name}${formOfValue(flag)}`,
        flag.help,
      );
      if (flag.isList) option.argParser((value: string, before: readonly string[] = []) => [...before, value]);
      command.addOption(option.helpGroup("anvil flags:").hideHelp(!isShown || i > 0 || "refused" in flag));
    }
  }
  return command;
}

/**
 * The settings of anvil's flags among `flags`.
 * @param own flags that the command reads itself
 * @throws UsageError
 */
export async function anvilSettingsOf(flags: Flags, own: readonly string[]): Promise<Settings> {
  const given = givenOf(flags, own);
  const [first] = [...given].filter(([name, values]) => values.length > 0 && !own.includes(name));
  if (first === undefined) return {};
  if (flags["dev"] !== true) throw new UsageError(`--${first[0]} needs --dev`);
  return settingsOf(given);
}

/** What a start with these flags leaves for scripts. */
export function configOutOf(flags: Flags): ((chain: ChainStatus) => void) | undefined {
  const file = flags["configOut"] as string | undefined;
  if (file === undefined) return undefined;
  const [gasPrice, gasLimit] = [flags["gasPrice"], flags["gasLimit"]] as (string | undefined)[];
  return (chain) => writeConfigOut(file, chain, { gasPrice, gasLimit });
}

function givenOf(flags: Flags, own: readonly string[]): ValuesOfFlags {
  const given = new Map<string, readonly string[]>();
  for (const flag of ANVIL_FLAGS) {
    if (NOT_OF_START.has(flag.name)) continue;
    const values = namesOf(flag).flatMap((name) => valuesOf(flag, flags, name));
    if (values.length === 0) continue;
    // Of the command's own flags it only counts that they are there.
    given.set(flag.name, own.includes(flag.name) ? [] : values.map((value) => (flag.value ? read(flag, value) : "")));
  }
  return given;
}

function valuesOf(flag: AnvilFlag, flags: Flags, name: string): readonly string[] {
  const option = new Option(`--${name}${formOfValue(flag)}`);
  const value = flags[option.attributeName()];
  // commander has a switch `--no-mining` as a false `mining`.
  if (option.negate) return value === false ? [""] : [];
  if (value === undefined) return [];
  if (value === true) return [flag.implied ?? ""];
  return Array.isArray(value) ? (value as string[]) : [value as string];
}

function namesOf({ name, aliases = [] }: AnvilFlag): readonly string[] {
  return [name, ...aliases];
}

function formOfValue({ value, implied }: AnvilFlag): string {
  if (value === undefined) return "";
  return implied === undefined ? ` <${value}>` : ` [${value}]`;
}
