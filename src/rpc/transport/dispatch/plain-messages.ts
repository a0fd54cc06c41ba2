import type { RpcLimits } from "../limits.ts";
import { NAME_ITEMS, skipBlanks } from "./json-scan.ts";
import type { Message } from "./message.ts";

/** Messages of the plain kind, with the counts for the limits, as `scanJson` counts. */
export type PlainMessages = {
  readonly messages: readonly Message[];
  readonly isBatch: boolean;
  /** Commas, objects and arrays. */
  readonly items: number;
};

/** Longer bodies are left to JSON.parse, which is quicker with long strings. */
const BODY_BYTES_MAX = 32 << 10;
/** Digits of an integer that is small in V8. */
const DIGITS_MAX = 9;
const ID_CHARS_MAX = 64;
const NAME_CHARS_MAX = 64;
/** Names of methods that are remembered, and names of members, each a power of two. */
const NAMES_MAX = 64;
/** A call or a transaction has fewer; an object of many is left to JSON.parse. */
const OBJECT_MEMBERS_MAX = 24;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

const VERSION = Buffer.from('"jsonrpc":"2.0"', "latin1");
const ID = Buffer.from('"id":', "latin1");
const METHOD = Buffer.from('"method":"', "latin1");
const PARAMS = Buffer.from('"params":[', "latin1");
const TRUE = Buffer.from("true", "latin1");
const FALSE = Buffer.from("false", "latin1");
const NULL = Buffer.from("null", "latin1");

/** Members of a message as bits. */
const HAS_VERSION = 1;
const HAS_ID = 2;
const HAS_METHOD = 4;
const HAS_PARAMS = 8;
const HAS_CALL = HAS_VERSION | HAS_ID | HAS_METHOD;

/** A list of messages, a message, and its parameters. */
const DEPTH = 3;
/** Lists in lists of objects: alternative topics, access lists. */
const DEPTH_MAX = DEPTH + 4;
const MEMBERS = 4;

const NOTHING = Buffer.alloc(0);
const NO_PARAMS: readonly unknown[] = [];

/**
 * Reads the one kind of body that nearly every small one is: calls with their members in any order, no white space, a short id, and
 * parameters of strings without escapes, booleans, null and small integers, in lists and in objects whose members have names of letters. It takes
 * a third to half of what checking, parsing and classifying take.
 *
 * Nothing is read here that JSON.parse and `readMessage` would read differently: all else is theirs, valid or not.
 */
export class PlainMessageReader {
  readonly #methods: (string | undefined)[] = new Array<undefined>(NAMES_MAX).fill(undefined);
  readonly #memberNames: (string | undefined)[] = new Array<undefined>(NAMES_MAX).fill(undefined);
  readonly #limits: Pick<RpcLimits, "jsonDepthMax" | "jsonItemsMax" | "idBytesMax">;
  readonly #depthMax: number;
  #body: Buffer = NOTHING;
  #at = 0;
  #items = 0;
  /** Members of objects in parameters. */
  #members = 0;

  constructor(limits: Pick<RpcLimits, "jsonDepthMax" | "jsonItemsMax" | "idBytesMax">) {
    this.#limits = limits;
    this.#depthMax = Math.min(limits.jsonDepthMax, DEPTH_MAX);
  }

  /** @returns undefined for every other body, and for one beyond a limit */
  read(body: Buffer): PlainMessages | undefined {
    if (body.length > BODY_BYTES_MAX || this.#depthMax < DEPTH) return undefined;
    this.#body = body;
    const plain = this.#messages();
    // It would be retained until the next one.
    this.#body = NOTHING;
    if (plain === undefined) return undefined;
    const items = plain.items + (plain.messages.length * MEMBERS + this.#members) * NAME_ITEMS;
    return items > this.#limits.jsonItemsMax ? undefined : plain;
  }

  #messages(): PlainMessages | undefined {
    const body = this.#body;
    const isBatch = body[0] === OPEN_ARRAY;
    this.#at = isBatch ? 1 : 0;
    this.#items = isBatch ? 1 : 0;
    this.#members = 0;
    const messages: Message[] = [];
    while (true) {
      const message = this.#message();
      if (message === undefined) return undefined;
      messages.push(message);
      if (!isBatch) break;
      const byte = body[this.#at++];
      if (byte === CLOSE_ARRAY) break;
      if (byte !== COMMA) return undefined;
      this.#items++;
    }
    // What follows is for the JSON parser to judge.
    if (skipBlanks(body, this.#at) !== body.length) return undefined;
    return { messages, isBatch, items: this.#items };
  }

  #message(): Message | undefined {
    const body = this.#body;
    if (body[this.#at] !== OPEN_OBJECT) return undefined;
    let members = 0;
    let id = "";
    let method = "";
    let params = NO_PARAMS;
    do {
      // The object, or the comma before a further member.
      this.#at++;
      this.#items++;
      let member: number;
      switch (body[this.#at + 1]) {
        case 0x6a: // j
          if (!this.#takes(VERSION)) return undefined;
          member = HAS_VERSION;
          break;
        case 0x69: {
          // i
          const text = this.#takes(ID) ? this.#id() : undefined;
          if (text === undefined) return undefined;
          id = text;
          member = HAS_ID;
          break;
        }
        case 0x6d: {
          // m
          const text = this.#takes(METHOD) ? this.#name(this.#methods) : undefined;
          if (text === undefined) return undefined;
          method = text;
          member = HAS_METHOD;
          break;
        }
        case 0x70: {
          // p
          const list = this.#takes(PARAMS) ? this.#list(DEPTH) : undefined;
          if (list === undefined) return undefined;
          params = list;
          member = HAS_PARAMS;
          break;
        }
        default:
          return undefined;
      }
      if ((members & member) !== 0) return undefined;
      members |= member;
    } while (body[this.#at] === COMMA);
    if ((members & HAS_CALL) !== HAS_CALL || body[this.#at] !== CLOSE_OBJECT) return undefined;
    this.#at++;
    return { kind: "call", id, method, params };
  }

  /** Whether `text` is next; then it is taken. */
  #takes(text: Buffer): boolean {
    const body = this.#body;
    const at = this.#at;
    for (let i = 0; i < text.length; i++) if (body[at + i] !== text[i]) return false;
    this.#at = at + text.length;
    return true;
  }

  /** The id as it is written: an integer, or a string. */
  #id(): string | undefined {
    const body = this.#body;
    const start = this.#at;
    if (body[start] === QUOTE) {
      const end = this.#endOfString(start + 1, ID_CHARS_MAX);
      if (end === -1 || end + 1 - start > this.#limits.idBytesMax) return undefined;
      this.#at = end + 1;
      return body.toString("latin1", start, end + 1);
    }
    const number = this.#integer();
    return number === undefined || this.#at - start > this.#limits.idBytesMax ? undefined : String(number);
  }

  /** An integer from 0 without a sign, fraction or exponent: what follows it has to be looked at. */
  #integer(): number | undefined {
    const body = this.#body;
    const start = this.#at;
    let at = start;
    let number = 0;
    for (; at - start <= DIGITS_MAX; at++) {
      const digit = body[at]! - ZERO;
      if (!(digit >= 0 && digit <= 9)) break;
      number = 10 * number + digit;
    }
    const digits = at - start;
    if (digits === 0 || digits > DIGITS_MAX || (digits > 1 && body[start] === ZERO)) return undefined;
    this.#at = at;
    return number;
  }

  /** The name behind its quote: letters, digits and `_`. One string for all uses of a name in `known`, which maps find at once. */
  #name(known: (string | undefined)[]): string | undefined {
    const body = this.#body;
    const start = this.#at;
    const limit = Math.min(body.length, start + NAME_CHARS_MAX);
    let hash = 0;
    let end = start;
    for (; end < limit; end++) {
      const byte = body[end]!;
      if (byte === QUOTE) break;
      if (NAME_BYTES[byte] === 0) return undefined;
      hash = (31 * hash + byte) | 0;
    }
    if (end === start || end === limit) return undefined;
    this.#at = end + 1;
    const slot = (hash ^ (hash >>> 8)) & (NAMES_MAX - 1);
    const same = known[slot];
    if (same !== undefined && isTextAt(same, body, start, end)) return same;
    const name = body.toString("latin1", start, end);
    known[slot] = name;
    return name;
  }

  /** The values of a list behind its bracket. */
  #list(depth: number): readonly unknown[] | undefined {
    const body = this.#body;
    this.#items++;
    if (body[this.#at] === CLOSE_ARRAY) {
      this.#at++;
      return depth === DEPTH ? NO_PARAMS : [];
    }
    const values: unknown[] = [];
    while (true) {
      const value = this.#value(depth + 1);
      if (value === undefined) return undefined;
      values.push(value);
      const byte = body[this.#at++];
      if (byte === CLOSE_ARRAY) return values;
      if (byte !== COMMA) return undefined;
      this.#items++;
    }
  }

  /** The object behind its brace. Names begin with a letter: `__proto__` and numbers would not become members in their order. */
  #object(depth: number): object | undefined {
    const body = this.#body;
    this.#items++;
    const object: Record<string, unknown> = {};
    if (body[this.#at] === CLOSE_OBJECT) {
      this.#at++;
      return object;
    }
    for (let members = 1; members <= OBJECT_MEMBERS_MAX; members++) {
      if (body[this.#at++] !== QUOTE || !isLetter(body[this.#at]!)) return undefined;
      const name = this.#name(this.#memberNames);
      if (name === undefined || body[this.#at++] !== COLON) return undefined;
      this.#members++;
      const value = this.#value(depth + 1);
      if (value === undefined) return undefined;
      object[name] = value;
      const byte = body[this.#at++];
      if (byte === CLOSE_OBJECT) return object;
      if (byte !== COMMA) return undefined;
      this.#items++;
    }
    return undefined;
  }

  /** @param depth of the value, if it is a list or an object */
  #value(depth: number): unknown {
    const body = this.#body;
    const start = this.#at;
    switch (body[start]) {
      case QUOTE: {
        const end = this.#endOfString(start + 1, body.length);
        if (end === -1) return undefined;
        this.#at = end + 1;
        return body.toString("latin1", start + 1, end);
      }
      case OPEN_OBJECT:
        if (depth > this.#depthMax) return undefined;
        this.#at++;
        return this.#object(depth);
      case OPEN_ARRAY:
        if (depth > this.#depthMax) return undefined;
        this.#at++;
        return this.#list(depth);
      case 0x74: // t
        return this.#takes(TRUE) ? true : undefined;
      case 0x66: // f
        return this.#takes(FALSE) ? false : undefined;
      case 0x6e: // n
        return this.#takes(NULL) ? null : undefined;
      default:
        return this.#integer();
    }
  }

  /** Where the quote is that ends a string of visible ASCII; −1 for any other string. */
  #endOfString(start: number, charsMax: number): number {
    const body = this.#body;
    const limit = Math.min(body.length, start + charsMax + 1);
    for (let at = start; at < limit; at++) {
      const byte = body[at]!;
      if (byte === QUOTE) return at;
      if (byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return -1;
    }
    return -1;
  }
}

/** By byte: 1 for bytes of method names: letters, digits and the underscore. */
const NAME_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => (/\w/.test(String.fromCharCode(byte)) ? 1 : 0));

function isLetter(byte: number): boolean {
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x7a;
}

function isTextAt(text: string, body: Buffer, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== body[start + i]) return false;
  return true;
}
