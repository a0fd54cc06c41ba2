import { dirname } from "node:path";
import { ifPresent } from "../../store/storage/if-present.ts";
import { makeFolder } from "../../store/storage/make-folder.ts";
import { readTextFile } from "../../store/storage/read-file.ts";
import { replaceFile } from "../../store/storage/replace-file.ts";
import { appTomlPath, CONFIG_FILE_BYTES_MAX } from "./home.ts";
import { OPTIONS } from "./schema.ts";
import type { Option } from "./value-types.ts";

/**
 * Text of a new `app.toml`: every setting with its description and default. Settings are commented out: a value in force is then always an
 * operator's choice, and a later version's better default reaches old homes.
 */
export function renderAppToml(): string {
  const lines = [
    "# Settings of this node. A flag (--KEY VALUE) outranks the environment (EVMINT_KEY, with _ for . and -),",
    "# which outranks this file. A line that starts with # shows a default. An unknown key is an error.",
  ];
  let table = "";
  for (const option of inFileOrder()) {
    const { group, name } = split(option.key);
    if (group !== table) {
      lines.push("", `[${group}]`);
      table = group;
    }
    lines.push("", `# ${option.description}`);
    if (option.type.expects !== "a text") lines.push(`# Takes ${option.type.expects}.`);
    const printed = option.type.print(option.default);
    // Not written as a TOML line if a value is in force: a duplicate key is an error.
    if (option.init === undefined) lines.push(`# ${name} = ${printed}`);
    else lines.push(`# Default: ${printed}`, `${name} = ${option.type.print(option.init)}`);
  }
  return `${lines.join("\n")}\n`;
}

/**
 * `text` of an `app.toml` with `key` set to `literal`; keeps everything else, including comments.
 * @param literal TOML, as the setting's type prints it
 */
export function setInAppToml(text: string, key: string, literal: string): string {
  const { group, name } = split(key);
  const lines = text.split("\n");
  const start = group === "" ? 0 : lines.findIndex((line) => isTable(line, group)) + 1;
  if (group !== "" && start === 0) {
    return `${text.replace(/\n*$/, "\n")}\n[${group}]\n${name} = ${literal}\n`;
  }
  const next = lines.findIndex((line, index) => index >= start && isTable(line));
  const end = next === -1 ? lines.length : next;
  const find = (pattern: RegExp) =>
    lines.findIndex((line, index) => index >= start && index < end && pattern.test(line));
  const inForce = find(new RegExp(`^\\s*${name}\\s*=`));
  const shown = find(new RegExp(`^#\\s*${name}\\s*=`));
  const line = `${name} = ${literal}`;
  if (inForce !== -1) lines[inForce] = line;
  // Behind the line that shows the default, else first in its table.
  else lines.splice(shown === -1 ? start : shown + 1, 0, line);
  return lines.join("\n");
}

/**
 * Position of `key`'s value in the text of an `app.toml`, both counted from 1; undefined if the key is not on one line under its table, for
 * example in an inline table.
 */
export function positionInAppToml(
  text: string,
  key: string,
): { readonly line: number; readonly column: number } | undefined {
  let table = "";
  for (const [index, line] of text.split("\n").entries()) {
    table = /^\s*\[\s*([^[\]]+?)\s*\]/.exec(line)?.[1] ?? table;
    const [head, name] = /^\s*((?:"[^"]*"|[\w.-])+)\s*=\s*/.exec(line) ?? [];
    if (head === undefined || name === undefined) continue;
    if ([table, name].filter(Boolean).join(".").replaceAll('"', "") !== key) continue;
    return { line: index + 1, column: head.length + 1 };
  }
  return undefined;
}

/** TOML wants keys without a table before the first table. */
function inFileOrder(): readonly Option<unknown>[] {
  return [...OPTIONS.filter(({ key }) => !key.includes(".")), ...OPTIONS.filter(({ key }) => key.includes("."))];
}

function split(key: string): { readonly group: string; readonly name: string } {
  const dot = key.lastIndexOf(".");
  return { group: key.slice(0, Math.max(0, dot)), name: key.slice(dot + 1) };
}

function isTable(line: string, group?: string): boolean {
  const name = /^\s*\[\s*([^[\]]+?)\s*\]/.exec(line)?.[1];
  return name !== undefined && (group === undefined || name === group);
}

/** Sets `key` in the home's `app.toml`, which is created if missing; keeps comments and everything else. A crash leaves the old or the new file. */
export function editAppToml(home: string, key: string, value: unknown): void {
  const option = OPTIONS.find((each) => each.key === key)!;
  const path = appTomlPath(home);
  const before = ifPresent(() => readTextFile(path, { bytesMax: CONFIG_FILE_BYTES_MAX })) ?? "";
  const text = setInAppToml(before, key, option.type.print(value));
  makeFolder(dirname(path));
  replaceFile(path, text, 0o644);
}
