import { escapeControls } from "./escape-controls.ts";
import type { LogData, LogLevel } from "./logger.ts";

export type LogLine = {
  /** Unix milliseconds */
  readonly time: number;
  readonly level: LogLevel;
  /** Dotted path of child names; empty at the root. */
  readonly module: string;
  readonly message: string;
  readonly data: LogData;
};

/** Maximum text of one value: a caller's megabyte must not become a megabyte of log. */
const VALUE_LENGTH_MAX = 1024;
/** Maximum length of a line that syslog and container runtimes do not split. */
const LINE_LENGTH_MAX = 16 * 1024;
/** Maximum entries shown of an array or object. */
const ENTRIES_MAX = 32;
const DEPTH_MAX = 4;

/** Names whose values are never written. The rule is not to log secrets; this is the safety net for code that logs a whole request. */
const SECRET_NAME = /pass(word|phrase)|private_?-?key|priv_?key|secret|mnemonic|token|jwt|authoriz/i;

const COLORS: Readonly<Record<LogLevel, string>> = {
  silent: "",
  error: "\x1b[31m",
  warn: "\x1b[33m",
  info: "\x1b[32m",
  debug: "\x1b[36m",
  trace: "\x1b[90m",
};

/** One JSON object without a line feed: `time` (ISO 8601), `level`, `module`, `message`, then the data. */
export function formatJson(line: LogLine): string {
  const head = {
    time: new Date(line.time).toISOString(),
    level: line.level,
    ...(line.module && { module: line.module }),
    message: clip(line.message),
  };
  // Twice: the first puts the head first, the second prevents data from replacing it.
  const text = jsonOf({ ...head, ...(plain(line.data, 0) as object), ...head });
  // Half an object is not valid JSON, so a truncated line is marked and keeps only the fields that identify it.
  return text.length <= LINE_LENGTH_MAX ? text : jsonOf({ ...head, cut: text.length });
}

/** `2026-01-01T00:00:00.000Z info  chain: block imported number=1`, for humans. */
export function formatText(line: LogLine, color: boolean): string {
  const level = line.level.padEnd(5);
  const parts = [
    new Date(line.time).toISOString(),
    color ? `${COLORS[line.level]}${level}\x1b[0m` : level,
    escapeControls(`${line.module ? `${line.module}: ` : ""}${clip(line.message)}`),
  ];
  for (const [name, value] of Object.entries(plain(line.data, 0) as object)) {
    parts.push(`${escapeControls(name)}=${textOf(value)}`);
  }
  const text = parts.join(" ");
  return text.length <= LINE_LENGTH_MAX ? text : `${text.slice(0, LINE_LENGTH_MAX)}…`;
}

/** `warn  rpc: origin rejected  origin=https://…`, for a terminal: without the time, which nearby lines show. */
export function formatPretty(line: LogLine, color: boolean): string {
  const level = line.level === "info" ? "" : `${line.level.padEnd(5)} `;
  const head = escapeControls(`${line.module ? `${line.module}: ` : ""}${clip(line.message)}`);
  const data = Object.entries(plain(line.data, 0) as object).map(
    ([name, value]) => `${escapeControls(name)}=${textOf(value)}`,
  );
  const text = data.length === 0 ? head : `${head}  ${data.join(" ")}`;
  const shown = text.length <= LINE_LENGTH_MAX ? text : `${text.slice(0, LINE_LENGTH_MAX)}…`;
  return color && level !== "" ? `${COLORS[line.level]}${level}\x1b[0m${shown}` : `${level}${shown}`;
}

function textOf(value: unknown): string {
  if (typeof value === "string" && /^[^\s"=]+$/.test(value) && escapeControls(value) === value) {
    return value;
  }
  return jsonOf(value);
}

/** JSON without raw control characters: JSON.stringify does not escape DEL, C1 and formatting characters. */
function jsonOf(value: unknown): string {
  return escapeControls(JSON.stringify(value) ?? "undefined");
}

/** A bounded copy of `value` for JSON, without secrets, with unusual types as text. */
function plain(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "string":
      return clip(value);
    case "bigint":
      return value.toString();
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "function":
    case "symbol":
      return `[${typeof value}]`;
    case "object":
      return value === null ? null : plainObject(value, depth);
    default:
      return value;
  }
}

function plainObject(value: object, depth: number): unknown {
  if (value instanceof Uint8Array) return clip(`0x${Buffer.from(value).toString("hex")}`);
  if (value instanceof Error) return plainError(value);
  if (depth >= DEPTH_MAX) return "[…]";
  if (Array.isArray(value)) return value.slice(0, ENTRIES_MAX).map((item) => plain(item, depth + 1));
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value).slice(0, ENTRIES_MAX)) {
    copy[name] = SECRET_NAME.test(name) ? "[secret]" : plain(item, depth + 1);
  }
  return copy;
}

function plainError(error: Error): unknown {
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    ...(typeof code === "string" && { code }),
    message: clip(error.message),
    ...(error.stack !== undefined && { stack: error.stack.slice(0, 4 * VALUE_LENGTH_MAX) }),
  };
}

function clip(text: string): string {
  return text.length <= VALUE_LENGTH_MAX ? text : `${text.slice(0, VALUE_LENGTH_MAX)}…(${text.length})`;
}
