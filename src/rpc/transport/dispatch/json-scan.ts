import { InvalidRequestError } from "../errors.ts";
import type { RpcLimits } from "../limits.ts";

/** What one pass over the bytes of a body finds before JSON.parse reads it. */
type JsonScan = {
  /** Where the first JSON value ends; the body's length when it does not end. */
  readonly end: number;
  readonly isBatch: boolean;
  /** Commas, objects and arrays: no fewer than there are values, less one. */
  readonly items: number;
  /**
   * The `id` member of each message as it was written, undefined where none was seen.
   * Numbers above 2^53 and odd spellings like `1.0` would not survive a parsed number.
   */
  readonly ids: readonly (string | undefined)[];
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const ZERO = 0x30;
/** What a member counts against the limit besides its comma: 200,000 names, all different, take JSON.parse 100 ms, and as many values of an array 3 ms. */
export const NAME_ITEMS = 3;
/** Digits of a number that needs no allocation. */
const NUMBER_DIGITS_MAX = 9;
/** Of a number with the blanks around it: JSON.parse takes 6 ns for each digit, and no parameter is a number of more than 16. */
const NUMBER_BYTES_MAX = 4096;
/** Bytes in which a loop finds the end of a string before the native search has begun: names of members and methods, quantities. */
const SHORT_STRING = 32;

/**
 * Bounds depth and number of items of the first JSON value in `body` and finds the ids in it. Whether the text is JSON at all
 * is left to JSON.parse: on malformed text the result means nothing.
 *
 * @throws InvalidRequestError when the value nests too deep, holds too much or has an endless number
 */
export function scanJson(body: Buffer, limits: Pick<RpcLimits, "jsonDepthMax" | "jsonItemsMax">): JsonScan {
  let at = skipBlanks(body, 0);
  const isBatch = body[at] === OPEN_ARRAY;
  const messageDepth = isBatch ? 2 : 1;
  const ids: (string | undefined)[] = [];
  let message = 0;
  let depth = 0;
  let items = 0;
  let nameItems = 0;
  let inMessage = false;
  let keyIsNext = false;
  let keyIsId = false;
  let idStart = -1;
  /** The end of the last token that is not a number, true, false or null. */
  let tokenEnd = at;

  if (body[at] !== OPEN_ARRAY && body[at] !== OPEN_OBJECT) {
    return { end: endOfPrimitive(body, at), isBatch, items, ids };
  }
  for (; at < body.length; at++) {
    switch (body[at]) {
      case QUOTE: {
        const end = endOfString(body, at);
        if (keyIsNext && inMessage && depth === messageDepth) {
          keyIsId = end === at + 3 && body[at + 1] === 0x69 && body[at + 2] === 0x64;
          keyIsNext = false;
        }
        at = end;
        tokenEnd = at;
        break;
      }
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        if (++depth > limits.jsonDepthMax) {
          throw new InvalidRequestError(`request is nested deeper than ${limits.jsonDepthMax} levels`);
        }
        if (++items + nameItems > limits.jsonItemsMax) throw tooManyItems(limits.jsonItemsMax);
        if (depth === messageDepth) {
          inMessage = body[at] === OPEN_OBJECT;
          keyIsNext = true;
        }
        tokenEnd = at;
        break;
      case COLON:
        nameItems += NAME_ITEMS;
        tokenEnd = at;
        if (keyIsId && depth === messageDepth) {
          keyIsId = false;
          idStart = at + 1;
        }
        break;
      case COMMA:
        tokenEnd = at;
        if (++items + nameItems > limits.jsonItemsMax) throw tooManyItems(limits.jsonItemsMax);
        if (depth === messageDepth) {
          keyIsNext = true;
          if (idStart >= 0) {
            ids[message] = idText(body, idStart, at);
            idStart = -1;
          }
        } else if (isBatch && depth === 1) message++;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        tokenEnd = at;
        if (depth === messageDepth && idStart >= 0) {
          ids[message] = idText(body, idStart, at);
          idStart = -1;
        }
        if (--depth === 0) return { end: at + 1, isBatch, items, ids };
        break;
      default:
        // Scanning five megabytes of digits takes as long as parsing them.
        if (at - tokenEnd > NUMBER_BYTES_MAX) throw longNumber();
    }
  }
  return { end: body.length, isBatch, items, ids };
}

/** Position of the quote that ends the string which begins at `start`; the last position when none does. */
function endOfString(body: Buffer, start: number): number {
  const near = Math.min(start + SHORT_STRING, body.length);
  for (let at = start + 1; at < near; at++) {
    if (body[at] === QUOTE) return at;
    if (body[at] === BACKSLASH) break;
  }
  let at = start;
  while (true) {
    at = body.indexOf(QUOTE, at + 1);
    if (at === -1) return body.length - 1;
    let backslashes = 0;
    while (body[at - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
}

/** The text of an id without white space around it. Most ids are small numbers, which are read without a call into native code. */
function idText(body: Buffer, start: number, end: number): string {
  const digits = end - start;
  if (digits <= NUMBER_DIGITS_MAX && (digits === 1 || body[start] !== ZERO)) {
    let number = 0;
    let at = start;
    for (; at < end; at++) {
      const digit = body[at]! - ZERO;
      if (digit < 0 || digit > 9) break;
      number = 10 * number + digit;
    }
    if (at === end && digits > 0) return String(number);
  }
  return body.toString("utf8", start, end).trim();
}

/** Position of the first byte at or after `at` that is not JSON white space. */
export function skipBlanks(body: Buffer, at: number): number {
  while (at < body.length && isBlank(body[at]!)) at++;
  return at;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function endOfPrimitive(body: Buffer, start: number): number {
  if (body[start] === QUOTE) return endOfString(body, start) + 1;
  let at = start;
  while (at < body.length && !isBlank(body[at]!)) if (++at - start > NUMBER_BYTES_MAX) throw longNumber();
  return at;
}

function longNumber(): InvalidRequestError {
  return new InvalidRequestError(`request has a number, or blanks, of more than ${NUMBER_BYTES_MAX} bytes`);
}

function tooManyItems(itemsMax: number): InvalidRequestError {
  return new InvalidRequestError(`request holds more than ${itemsMax} items`);
}
