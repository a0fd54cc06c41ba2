import { skipBlanks } from "./json-scan.ts";

/** Of a longer text no words are found: to look at each character of megabytes takes a tenth of a second. */
const WORDS_BYTES_MAX = 64 << 10;

/**
 * What is wrong with a text that is no JSON, in the words of Go's `encoding/json`, which geth sends to WebSocket clients.
 * undefined for a text that only ends too early, or is long.
 * @param body whose depth is bounded
 */
export function jsonSyntaxError(body: Buffer): string | undefined {
  if (body.length > WORDS_BYTES_MAX) return undefined;
  try {
    skipValue(body, skipBlanks(body, 0), "looking for beginning of value");
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.text;
    throw error;
  }
}

/** Ends the scan. */
class Fault extends Error {
  readonly text: string | undefined;
  constructor(text: string | undefined) {
    super(text);
    this.text = text;
  }
}

const LITERALS = ["true", "false", "null"];
const ESCAPES = new Set('\\/"bfnrt');

/** Position after the value at `start`. @throws Fault */
function skipValue(body: Buffer, start: number, context: string): number {
  const first = charAt(body, start);
  if (first === "{") return skipObject(body, start + 1);
  if (first === "[") return skipArray(body, start + 1);
  if (first === '"') return skipString(body, start + 1);
  const literal = LITERALS.find((name) => name[0] === first);
  if (literal !== undefined) return skipLiteral(body, start, literal);
  if (first === "-" || isDigit(first)) return skipNumber(body, start);
  throw unexpected(first, context);
}

function skipObject(body: Buffer, start: number): number {
  let at = skipBlanks(body, start);
  if (charAt(body, at) === "}") return at + 1;
  while (true) {
    const quote = charAt(body, at);
    if (quote !== '"') throw unexpected(quote, "looking for beginning of object key string");
    at = skipBlanks(body, skipString(body, at + 1));
    const colon = charAt(body, at);
    if (colon !== ":") throw unexpected(colon, "after object key");
    at = skipValue(body, skipBlanks(body, at + 1), "looking for beginning of value");
    at = skipBlanks(body, at);
    const next = charAt(body, at);
    if (next === "}") return at + 1;
    if (next !== ",") throw unexpected(next, "after object key:value pair");
    at = skipBlanks(body, at + 1);
  }
}

function skipArray(body: Buffer, start: number): number {
  let at = skipBlanks(body, start);
  if (charAt(body, at) === "]") return at + 1;
  while (true) {
    at = skipBlanks(body, skipValue(body, at, "looking for beginning of value"));
    const next = charAt(body, at);
    if (next === "]") return at + 1;
    if (next !== ",") throw unexpected(next, "after array element");
    at = skipBlanks(body, at + 1);
  }
}

function skipString(body: Buffer, start: number): number {
  for (let at = start; ; at++) {
    const char = charAt(body, at);
    if (char === '"') return at + 1;
    if (char < " ") throw unexpected(char, "in string literal");
    if (char !== "\\") continue;
    const escaped = charAt(body, ++at);
    if (escaped === "u") {
      for (let i = 0; i < 4; i++) {
        const digit = charAt(body, ++at);
        if (!/[0-9a-f]/i.test(digit)) {
          throw unexpected(digit, "in \\u hexadecimal character escape");
        }
      }
    } else if (!ESCAPES.has(escaped)) throw unexpected(escaped, "in string escape code");
  }
}

function skipLiteral(body: Buffer, start: number, literal: string): number {
  for (let i = 1; i < literal.length; i++) {
    const char = charAt(body, start + i);
    if (char === literal[i]) continue;
    throw unexpected(char, `in literal ${literal} (expecting ${quoted(literal[i]!)})`);
  }
  return start + literal.length;
}

function skipNumber(body: Buffer, start: number): number {
  let at = start;
  const digits = (context: string) => {
    if (!isDigit(charAt(body, at))) throw unexpected(charAt(body, at), context);
    while (isDigit(optionalCharAt(body, at))) at++;
  };
  if (charAt(body, at) === "-") at++;
  if (charAt(body, at) === "0") at++;
  else digits("in numeric literal");
  if (optionalCharAt(body, at) === ".") {
    at++;
    digits("after decimal point in numeric literal");
  }
  if (/^e$/i.test(optionalCharAt(body, at))) {
    at++;
    if (/^[+-]$/.test(optionalCharAt(body, at))) at++;
    digits("in exponent of numeric literal");
  }
  return at;
}

function charAt(body: Buffer, at: number): string {
  if (at >= body.length) throw new Fault(undefined);
  return String.fromCharCode(body[at]!);
}

function optionalCharAt(body: Buffer, at: number): string {
  return at < body.length ? String.fromCharCode(body[at]!) : "";
}

function isDigit(char: string): boolean {
  return char >= "0" && char <= "9";
}

function unexpected(char: string, context: string): Fault {
  return new Fault(`invalid character ${quoted(char)} ${context}`);
}

/** A byte as Go's `strconv.Quote` shows it, in single quotes. */
function quoted(char: string): string {
  if (char === "'") return "'\\''";
  if (char === '"') return `'"'`;
  const code = char.charCodeAt(0);
  const names: Readonly<Record<string, string>> = {
    "\u0007": "a",
    "\b": "b",
    "\f": "f",
    "\n": "n",
    "\r": "r",
    "\t": "t",
    "\v": "v",
    "\\": "\\",
  };
  if (names[char] !== undefined) return `'\\${names[char]}'`;
  if (code < 0x20 || code === 0x7f) return `'\\x${code.toString(16).padStart(2, "0")}'`;
  // Go writes the byte as the character with that number; unprintable Latin-1 characters as an escape.
  if (code > 0x7f && (code < 0xa1 || code === 0xad)) return `'\\u00${code.toString(16)}'`;
  return `'${char}'`;
}
