import { acceptsGzip } from "./compression.ts";

/** Where one HTTP request of the plain kind stands in a buffer. */
export type PlainCall = {
  readonly host: string;
  readonly contentType: string;
  /** It asks for a compressed answer. */
  readonly wantsGzip: boolean;
  /** W3C's header, where calls are traced. */
  readonly traceparent: string | undefined;
  /** The digits of its Content-Length. */
  readonly lengthStart: number;
  readonly lengthEnd: number;
  readonly bodyStart: number;
  /** Behind the body: where the next request begins. */
  readonly end: number;
};

/** Half of what node:http takes: a larger head is its to judge. */
const HEAD_BYTES_MAX = 8192;

const REQUEST_LINE = Buffer.from("POST / HTTP/1.1\r\n", "latin1");
const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;

/** The only headers of a plain call. Headers with an effect are read below, the others change nothing here. */
const HEADERS = [
  "host",
  "content-length",
  "content-type",
  "connection",
  "accept",
  "accept-encoding",
  "accept-language",
  "cache-control",
  "pragma",
  "user-agent",
  "sec-fetch-mode",
  "traceparent",
];

/** `HEADERS` by what `headerKey` makes of them; no two have the same. */
const HEADER_OF_KEY = new Map(HEADERS.map((name) => [headerKey(Buffer.from(name), 0, name.length), Buffer.from(name)]));
const HOST = HEADER_OF_KEY.get(keyOf("host"));
const CONTENT_LENGTH = HEADER_OF_KEY.get(keyOf("content-length"));
const CONTENT_TYPE = HEADER_OF_KEY.get(keyOf("content-type"));
const ACCEPT_ENCODING = HEADER_OF_KEY.get(keyOf("accept-encoding"));
const TRACEPARENT = HEADER_OF_KEY.get(keyOf("traceparent"));
const CONNECTION = HEADER_OF_KEY.get(keyOf("connection"));

/** RFC 9110, 5.6.2: characters of a header's name, without the rarely seen ones. */
const IS_NAME = byteTable((byte) => /[a-z-]/i.test(String.fromCharCode(byte)));
/** RFC 9110, 5.5, without bytes above 0x7e. */
const IS_VALUE = byteTable((byte) => byte === TAB || (byte >= SPACE && byte < 0x7f));

/**
 * Recognises the one kind of HTTP request that nearly every call is: POST on the root in HTTP/1.1, on a connection to be
 * kept, with known headers that need no thought, one Content-Length, and all of its body there.
 *
 * @param isTraced `traceparent` is read
 * @returns undefined for everything else, valid or not. No request is recognised that node:http would read differently.
 */
export function recognisePlainCall(
  bytes: Buffer,
  start: number,
  bodyBytesMax: number,
  isTraced = false,
): PlainCall | undefined {
  let at = start;
  for (const byte of REQUEST_LINE) if (bytes[at++] !== byte) return undefined;
  const limit = Math.min(bytes.length, start + HEAD_BYTES_MAX);
  let host: string | undefined;
  let contentType: string | undefined;
  let encodings: string | undefined;
  let traceparent: string | undefined;
  let length = -1;
  let lengthStart = 0;
  let lengthEnd = 0;
  let hasConnection = false;
  while (at < limit && bytes[at] !== CR) {
    const nameStart = at;
    while (at < limit && IS_NAME[bytes[at]!] === 1) at++;
    if (bytes[at] !== COLON) return undefined;
    const name = headerAt(bytes, nameStart, at);
    at += bytes[at + 1] === SPACE ? 2 : 1;
    const valueStart = at;
    while (at < limit && IS_VALUE[bytes[at]!] === 1) at++;
    if (bytes[at] !== CR || bytes[at + 1] !== LF) return undefined;
    switch (name) {
      case undefined:
        return undefined;
      case HOST:
        if (host !== undefined) return undefined;
        host = bytes.toString("latin1", valueStart, at);
        break;
      case CONTENT_LENGTH:
        if (length !== -1) return undefined;
        length = decimal(bytes, valueStart, at);
        if (length === -1) return undefined;
        lengthStart = valueStart;
        lengthEnd = at;
        break;
      case CONTENT_TYPE:
        if (contentType !== undefined) return undefined;
        contentType = bytes.toString("latin1", valueStart, at);
        break;
      case ACCEPT_ENCODING:
        if (encodings !== undefined) return undefined;
        encodings = bytes.toString("latin1", valueStart, at);
        break;
      case TRACEPARENT:
        if (!isTraced) break;
        if (traceparent !== undefined) return undefined;
        traceparent = bytes.toString("latin1", valueStart, at);
        break;
      case CONNECTION:
        if (hasConnection || !isKeepAlive(bytes.toString("latin1", valueStart, at))) return undefined;
        hasConnection = true;
        break;
    }
    at += 2;
  }
  if (at + 1 >= limit || bytes[at + 1] !== LF) return undefined;
  if (host === undefined || contentType === undefined) return undefined;
  const bodyStart = at + 2;
  const end = bodyStart + length;
  if (length === -1 || length > bodyBytesMax || end > bytes.length) return undefined;
  const wantsGzip = acceptsGzip(encodings);
  return { host, contentType, wantsGzip, traceparent, lengthStart, lengthEnd, bodyStart, end };
}

/** Bytes of the longest head that a connection remembers. */
const REMEMBERED_BYTES_MAX = 512;

/** A head without the digits of its Content-Length. */
type RememberedHead = { readonly before: Buffer; readonly after: Buffer; readonly call: PlainCall };

/**
 * `recognisePlainCall` for the calls of one connection, whose heads are the same but for the length of the body: a head that was
 * recognised before is compared as a whole, and not read again.
 */
export class PlainCallReader {
  readonly #bodyBytesMax: number;
  readonly #isTraced: boolean;
  #head: RememberedHead | undefined;

  constructor(bodyBytesMax: number, isTraced = false) {
    this.#bodyBytesMax = bodyBytesMax;
    this.#isTraced = isTraced;
  }

  /** As `recognisePlainCall`. */
  read(bytes: Buffer, start: number): PlainCall | undefined {
    const known = this.#head === undefined ? undefined : this.#readKnown(this.#head, bytes, start);
    if (known !== undefined) return known;
    const call = recognisePlainCall(bytes, start, this.#bodyBytesMax, this.#isTraced);
    if (call !== undefined && call.bodyStart - start <= REMEMBERED_BYTES_MAX) {
      // Copies: a view would retain all that was received with it.
      const before = Buffer.from(bytes.subarray(start, call.lengthStart));
      const after = Buffer.from(bytes.subarray(call.lengthEnd, call.bodyStart));
      this.#head = { before, after, call };
    }
    return call;
  }

  #readKnown({ before, after, call }: RememberedHead, bytes: Buffer, start: number): PlainCall | undefined {
    const lengthStart = start + before.length;
    if (lengthStart >= bytes.length || before.compare(bytes, start, lengthStart) !== 0) return undefined;
    let lengthEnd = lengthStart;
    while (bytes[lengthEnd]! >= ZERO && bytes[lengthEnd]! <= NINE) lengthEnd++;
    const length = decimal(bytes, lengthStart, lengthEnd);
    const bodyStart = lengthEnd + after.length;
    const end = bodyStart + length;
    if (length === -1 || length > this.#bodyBytesMax || end > bytes.length) return undefined;
    // A few bytes, mostly: a loop takes less than a call of `compare`.
    for (let i = 0; i < after.length; i++) if (after[i] !== bytes[lengthEnd + i]) return undefined;
    const { host, contentType, wantsGzip, traceparent } = call;
    return { host, contentType, wantsGzip, traceparent, lengthStart, lengthEnd, bodyStart, end };
  }
}

/** The one of `HEADERS` that stands there, whatever the case of its letters. */
function headerAt(bytes: Buffer, start: number, end: number): Buffer | undefined {
  const name = HEADER_OF_KEY.get(headerKey(bytes, start, end));
  if (name === undefined || name.length !== end - start) return undefined;
  for (let i = 0; i < name.length; i++) {
    if (name[i] !== lowerCase(bytes[start + i]!)) return undefined;
  }
  return name;
}

/** Length, first and last letter: enough to tell `HEADERS` apart. */
function headerKey(bytes: Buffer, start: number, end: number): number {
  return ((end - start) << 10) | ((bytes[start]! & 31) << 5) | (bytes[end - 1]! & 31);
}

function keyOf(name: string): number {
  return headerKey(Buffer.from(name), 0, name.length);
}

/** Of a byte in `IS_NAME`: the hyphen has this bit already. */
function lowerCase(byte: number): number {
  return byte | 0x20;
}

/** The number written there with at most nine digits, −1 for anything else. */
function decimal(bytes: Buffer, start: number, end: number): number {
  if (end === start || end - start > 9) return -1;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

function isKeepAlive(connection: string): boolean {
  return connection === "keep-alive" || connection.toLowerCase() === "keep-alive";
}

function byteTable(holds: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (holds(byte) ? 1 : 0));
}
