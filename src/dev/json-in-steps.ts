/** JSON of this size is parsed in one piece: some tenths of a millisecond. */
const STEP_BYTES = 32 << 10;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const endsScalar = (byte: number | undefined) =>
  byte === undefined || byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT || isSpace(byte);

/** A list or an object that is not closed yet. */
type Open = { readonly list: unknown[] } | { readonly members: Record<string, unknown>; key: string };

/**
 * What `JSON.parse` makes of `bytes`, in steps: it takes a second for 64 MB, in one piece.
 * @throws SyntaxError
 */
export function* parseJsonInSteps(bytes: Buffer): Generator<undefined, unknown> {
  if (bytes.length <= STEP_BYTES) return JSON.parse(bytes.toString());
  const open: Open[] = [];
  let at = 0;
  let stepEnd = STEP_BYTES;
  const skipSpace = () => {
    while (isSpace(bytes[at])) at++;
    return bytes[at];
  };
  /** A string, a number or a word. */
  const scalar = (): unknown => {
    const start = at;
    if (bytes[at] === QUOTE) at = stringEnd(bytes, at);
    else while (!endsScalar(bytes[at])) at++;
    return JSON.parse(bytes.toString("utf8", start, at));
  };
  const key = (): string => {
    if (skipSpace() !== QUOTE) throw unexpected(at);
    const text = scalar() as string;
    if (skipSpace() !== COLON) throw unexpected(at);
    at++;
    return text;
  };
  for (;;) {
    let value: unknown;
    const first = skipSpace();
    if (first === OPEN_LIST || first === OPEN_OBJECT) {
      at++;
      const isEmpty = skipSpace() === (first === OPEN_LIST ? CLOSE_LIST : CLOSE_OBJECT);
      if (isEmpty) {
        at++;
        value = first === OPEN_LIST ? [] : {};
      } else {
        open.push(first === OPEN_LIST ? { list: [] } : { members: {}, key: key() });
        continue;
      }
    } else value = scalar();
    // The value may be the last of its container, and the container the last of its own.
    for (let inner = open.at(-1); ; inner = open.at(-1)) {
      if (inner === undefined) {
        if (skipSpace() !== undefined) throw unexpected(at);
        return value;
      }
      if ("list" in inner) inner.list.push(value);
      else setMember(inner.members, inner.key, value);
      const next = skipSpace();
      at++;
      if (next === COMMA) {
        if ("members" in inner) inner.key = key();
        break;
      }
      if (next !== ("list" in inner ? CLOSE_LIST : CLOSE_OBJECT)) throw unexpected(at - 1);
      value = "list" in inner ? inner.list : inner.members;
      open.pop();
    }
    if (at < stepEnd) continue;
    stepEnd = at + STEP_BYTES;
    yield;
  }
}

/** `__proto__` is a member like any other. */
function setMember(members: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") members[key] = value;
  else Object.defineProperty(members, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Where the string that begins at `start` ends. */
function stringEnd(bytes: Buffer, start: number): number {
  for (let end = start + 1; ; end++) {
    end = bytes.indexOf(QUOTE, end);
    if (end < 0) throw unexpected(bytes.length);
    let escapes = 0;
    while (bytes[end - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
}

function unexpected(at: number): SyntaxError {
  return new SyntaxError(`unexpected token or end of JSON at position ${at}`);
}
