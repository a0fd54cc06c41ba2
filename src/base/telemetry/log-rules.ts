import type { LogLevel } from "./logger.ts";
import type { SourcePosition } from "./source-positions.ts";

/** Where a line is logged: file path and line number. */
export type CallSite = { readonly file: string; readonly line: number };

type Rule = { readonly path: RegExp; readonly level: LogLevel };

/** geth's level numbers: 0 critical, which this program does not use, to 5 trace. */
const LEVELS: readonly LogLevel[] = ["silent", "error", "warn", "info", "debug", "trace"];

/** The level with geth's `number`; trace above 5. */
export function levelNumbered(number: number): LogLevel {
  return LEVELS[Math.min(Math.max(number, 0), LEVELS.length - 1)]!;
}

/** Levels of single files, in the syntax of geth's vmodule: `pattern=N,…`; undefined if `text` is malformed. */
export function parseRules(text: string): readonly Rule[] | undefined {
  const rules: Rule[] = [];
  for (const part of text.split(",")) {
    if (part === "" && text.split(",").length === 1) continue;
    const [pattern = "", level = "", ...rest] = part.split("=").map((each) => each.trim());
    if (rest.length > 0 || pattern === "" || !/^[+-]?\d+$/.test(level)) return undefined;
    if (Number(level) <= 0) continue;
    rules.push({ path: pathPattern(pattern), level: levelNumbered(Number(level)) });
  }
  return rules;
}

/** `file.ts` is a file, any other path all files of a folder; `*` is any number of folders. The suffixes `.ts`, `.js` and `.go` are equivalent. */
function pathPattern(pattern: string): RegExp {
  const isFile = /\.(?:ts|js|go)$/.test(pattern);
  const parts = pattern
    .replace(/\.(?:ts|js|go)$/, "")
    .split("/")
    .filter(Boolean);
  const path = parts.map((part) => (part === "*" ? "(?:/.*)?" : `/${escaped(part)}`)).join("");
  return new RegExp(`${path}${isFile ? "" : "/[^/]+"}\\.(?:ts|js)$`);
}

/** `file.ts:234`; undefined if `text` is malformed. */
export function parseCallSite(text: string): CallSite | undefined {
  const found = /^([^\s:]+)\.(?:ts|js|go):([1-9]\d*)$/.exec(text);
  return found ? { file: found[1]!, line: Number(found[2]) } : undefined;
}

/** Whether `site` is the line `wanted`, whatever folder its file is in. */
export function isCallSite(site: CallSite, wanted: CallSite): boolean {
  if (site.line !== wanted.line) return false;
  const name = site.file.replace(/\.(?:ts|js)$/, "");
  return name === wanted.file || name.endsWith(`/${wanted.file}`);
}

/** The level of the last rule that matches `file`. */
export function ruleLevel(rules: readonly Rule[], file: string): LogLevel | undefined {
  return rules.findLast(({ path }) => path.test(file))?.level;
}

/**
 * The first frame of a stack that is not in one of the logger's own files.
 * @param original position in the sources of a position in the running code
 */
export function callSiteOf(
  stack: string,
  original: (position: SourcePosition) => SourcePosition,
): CallSite | undefined {
  for (const line of stack.split("\n").slice(1)) {
    const found = /\(?(?:file:\/\/)?([^\s()]+):(\d+):(\d+)\)?$/.exec(line);
    if (found === null) continue;
    const [, file, row, column] = found;
    const site = original({ file: file!, line: Number(row), column: Number(column) });
    if (!/\/telemetry\/create-logger\.(?:ts|js)$/.test(site.file)) return site;
  }
  return undefined;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
