import { nearest } from "../../base/primitives/nearest.ts";
import { DEV_FLAG_OPTIONS } from "../../node/config/dev-flags.ts";
import { OPTIONS } from "../../node/config/schema.ts";
import { boolean } from "../../node/config/value-types.ts";
import { UsageError } from "../errors.ts";
import { ANVIL_FLAGS, type AnvilFlag } from "./flags.ts";

/** Flags by name, each with its values in order; a switch has empty ones. */
export type GivenFlags = ReadonlyMap<string, readonly string[]>;

export type ParsedFlags = {
  readonly flags: GivenFlags;
  /** Evmint's own settings and flags, such as `--json-rpc.gas-cap 1000`, which override anvil's. */
  readonly settings: Readonly<Record<string, string | true>>;
  /** Text to print instead of running a node. */
  readonly shows?: "help" | "version" | "short version";
};

/**
 * Arguments as anvil reads them: `--port 1`, `--port=1`, `-p 1`, `-p1`, `-vvv`.
 * @throws UsageError with the text that anvil prints, below `error: `
 */
export function parseFlags(args: readonly string[]): ParsedFlags {
  const flags = new Map<string, string[]>();
  const settings: Record<string, string | true> = {};
  const rest = [...args];
  while (rest.length > 0) {
    const arg = rest.shift()!;
    const [, name, attached] = /^--([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (name === "help" || arg === "-h") return { flags, settings, shows: "help" };
    if (name === "version") return { flags, settings, shows: "version" };
    if (arg === "-V") return { flags, settings, shows: "short version" };
    const known = ANVIL_FLAGS.find(
      (each) => each.name === name || (name !== undefined && each.aliases?.includes(name)),
    );
    const option = known === undefined ? [...OPTIONS, ...DEV_FLAG_OPTIONS].find(({ key }) => key === name) : undefined;
    if (option !== undefined) {
      const isSwitch = option.type === (boolean as unknown) && !/^(true|false)$/.test(rest[0] ?? "");
      settings[option.key] = attached ?? (isSwitch ? true : valueAfter(`--${option.key} <VALUE>`, rest));
      continue;
    }
    if (name !== undefined) {
      if (known === undefined) throw unexpected(arg, `--${name}`);
      take(known, attached);
    } else if (/^-[a-zA-Z]/.test(arg)) takeShort(arg.slice(1));
    else throw unexpected(arg, undefined);
  }
  for (const [name] of flags) checkOthers(flagOf(name), flags);
  return { flags, settings };

  /** `p8545`, `p=8545`, or switches in one word. */
  function takeShort(letters: string): void {
    const flag = ANVIL_FLAGS.find(({ short }) => short === letters[0]);
    if (flag === undefined) throw unexpected(`-${letters[0]}`, undefined);
    const after = letters.slice(1).replace(/^=/, "");
    if (flag.value !== undefined) {
      take(flag, after === "" ? undefined : after);
      return;
    }
    take(flag, undefined);
    if (after !== "") takeShort(after);
  }

  function take(flag: AnvilFlag, attached: string | undefined): void {
    const before = flags.get(flag.name);
    if (before !== undefined && !flag.isList) {
      throw new UsageError(`the argument '${formOf(flag)}' cannot be used multiple times`);
    }
    if (flag.value === undefined && attached !== undefined) {
      throw new UsageError(`unexpected value '${attached}' for '--${flag.name}' found; no more were expected`);
    }
    const value = flag.value === undefined ? "" : readValue(flag, attached);
    flags.set(flag.name, [...(before ?? []), value]);
  }

  function readValue(flag: AnvilFlag, attached: string | undefined): string {
    const isLeftOut = flag.implied !== undefined && attached === undefined && !isValue(rest[0]);
    const text = attached ?? (isLeftOut ? flag.implied! : valueAfter(formOf(flag), rest));
    return read(flag, text);
  }
}

/** @throws UsageError */
export function read(flag: AnvilFlag, text: string): string {
  try {
    return flag.read?.(text) ?? text;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`invalid value '${text}' for '${formOf(flag)}': ${error.message}`);
  }
}

/** @throws UsageError */
export function checkOthers(flag: AnvilFlag, given: GivenFlags): void {
  const conflict = flag.conflicts?.find((name) => given.has(name));
  if (conflict !== undefined) {
    throw new UsageError(`the argument '${formOf(flag)}' cannot be used with '${formOf(flagOf(conflict))}'`);
  }
  const missing = flag.requires?.find((name) => !given.has(name));
  if (missing !== undefined) {
    throw new UsageError(`the following required arguments were not provided:\n  ${formOf(flagOf(missing))}`);
  }
}

export function flagOf(name: string): AnvilFlag {
  return ANVIL_FLAGS.find((flag) => flag.name === name)!;
}

/** As anvil writes it: `--port <NUM>`. */
export function formOf({ name, value, implied }: AnvilFlag): string {
  if (value === undefined) return `--${name}`;
  return implied === undefined ? `--${name} <${value}>` : `--${name} [<${value}>]`;
}

/** A negative number is a value. */
function isValue(text: string | undefined): text is string {
  return text !== undefined && (!text.startsWith("-") || /^-\d/.test(text));
}

function valueAfter(form: string, rest: string[]): string {
  if (!isValue(rest[0])) throw new UsageError(`a value is required for '${form}' but none was supplied`);
  return rest.shift()!;
}

function unexpected(shown: string, long: string | undefined): UsageError {
  const known = ANVIL_FLAGS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const near =
    long &&
    nearest(
      long,
      [...known, ...[...OPTIONS, ...DEV_FLAG_OPTIONS].map(({ key }) => key)].map((name) => `--${name}`),
    );
  const tip = near ? `\n\n  tip: a similar argument exists: '${near}'` : "";
  return new UsageError(`unexpected argument '${shown.split("=")[0]}' found${tip}`);
}
