import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { DEV_HARDFORKS } from "../../node/config/dev-rules.ts";
import { UsageError } from "../errors.ts";

/** Settings by their key, as flags would give them. */
export type Settings = Readonly<Record<string, string>>;

/** How one kind of value of anvil's flags is read. @throws UsageError with the reason that anvil gives */
export type ReadValue = (text: string) => string;

/** A whole number in decimal digits, below 2^`bits`. */
export function integer(bits: number, min = 0n): ReadValue {
  return (text) => {
    if (!/^\+?\d+$/.test(text)) throw new UsageError("invalid digit found in string");
    const value = BigInt(text);
    if (value >= 1n << BigInt(bits)) throw new UsageError("number too large to fit in target type");
    if (value < min) throw new UsageError(`${text} is not in ${min}..`);
    return String(value);
  };
}

export const port: ReadValue = (text) => {
  if (!/^\d+$/.test(text)) throw new UsageError("invalid digit found in string");
  if (Number(text) > 65_535) throw new UsageError(`${text} is not in 0..=65535`);
  return String(Number(text));
};

/** Seconds, also parts of one, as a duration of ours. */
export const seconds: ReadValue = (text) => {
  const ms = /^\d+(\.\d+)?$/.test(text) ? Math.round(Number(text) * 1_000) : Number.NaN;
  if (Number.isNaN(ms)) throw new UsageError("invalid float literal");
  if (ms === 0) throw new UsageError("Duration must be greater than 0");
  return `${ms}ms`;
};

export const milliseconds: ReadValue = (text) => `${integer(31)(text)}ms`;

export function oneOf(...values: readonly string[]): ReadValue {
  return (text) => {
    const value = text.toLowerCase();
    if (values.includes(value)) return value;
    throw new UsageError(`it is one of ${values.join(", ")}`);
  };
}

/** Names of forks that anvil takes for the same rules as one of ours. */
const FORK_NAMES: Readonly<Record<string, string>> = { merge: "paris", latest: "bpo1" };
const FORKS: readonly string[] = DEV_HARDFORKS;
const FORKS_BEFORE_THE_MERGE = [
  ..."frontier homestead dao tangerine tangerinewhistle spuriousdragon byzantium constantinople petersburg istanbul muirglacier".split(
    " ",
  ),
  ..."berlin london arrowglacier grayglacier".split(" "),
];

export const hardfork: ReadValue = (text) => {
  const name = FORK_NAMES[text.toLowerCase()] ?? text.toLowerCase();
  if (FORKS.includes(name)) return name;
  if (FORKS_BEFORE_THE_MERGE.includes(name)) {
    throw new UsageError("blocks have no work, so the first supported hardfork is paris");
  }
  throw new UsageError(`unknown hardfork; choose one of ${FORKS.join(", ")}`);
};

/** A file of a state, which a folder holds as `state.json`. */
export const stateFile: ReadValue = (text) => {
  const isFolder = statSync(text, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? join(text, "state.json") : text;
};

/** `--state`: the file loaded at the start, if it exists, and written at the stop. */
export function stateSettings(text: string): Settings {
  const file = stateFile(text);
  return { "dump-state": file, ...(existsSync(file) && { "load-state": file }) };
}

/** `URL` or `URL@BLOCK`. */
export function forkSettings(text: string): Settings {
  const [, url = text, block] = /^(.*)@(\d+|latest)$/.exec(text) ?? [];
  return { "dev.fork-url": url, ...(block !== undefined && block !== "latest" && { "fork-block": block }) };
}
