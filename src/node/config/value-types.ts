import { AMSTERDAM_GAS_LIMIT_MIN } from "../../base/params/gas.ts";
import { type Address, parseAddress } from "../../base/primitives/address.ts";
import { type Hash, parseHash } from "../../base/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../base/primitives/hex.ts";
import type { BlockTime } from "../../consensus/solo/solo-engine.ts";
import { DEFAULT_ALLOWED_ORIGINS } from "../../rpc/transport/server/origin.ts";

/** How a kind of setting is read from text or TOML, and written. */
export type ValueType<T> = {
  /** What a value looks like, for messages and help: `a duration such as 500ms, 5s or 3h`. */
  readonly expects: string;
  /** undefined if `raw` is invalid. Flags and the environment give strings, TOML gives typed values. */
  readonly parse: (raw: RawValue) => T | undefined;
  /** The TOML literal that `parse` reads back. */
  readonly print: (value: T) => string;
};

export type RawValue = string | number | bigint | boolean | readonly unknown[] | object;

export type HostPort = { readonly host: string; readonly port: number };

export const boolean: ValueType<boolean> = {
  expects: "true or false",
  parse(raw) {
    if (raw === true || raw === "true") return true;
    if (raw === false || raw === "false") return false;
    return undefined;
  },
  print: String,
};

/** A whole number from `min` to `max`, inclusive. */
export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): ValueType<number> {
  return {
    expects: `a whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`}`,
    parse(raw) {
      const value = wholeNumber(raw);
      return value === undefined || value < min || value > max ? undefined : value;
    },
    print: String,
  };
}

/** A number of blocks, at least `min`, or `archive`: null, all blocks. */
export function retainedBlocks(min: number): ValueType<number | null> {
  const blocks = integer(min);
  const type = orNamed(`archive or ${blocks.expects}`, "archive", null, blocks);
  return { ...type, parse: (raw) => (raw === 0 || raw === "0" ? null : type.parse(raw)) };
}

/** An amount of gas as bigint, for EVM arithmetic. */
export const gas: ValueType<bigint> = {
  expects: "an amount of gas",
  parse(raw) {
    const value = wholeNumber(raw);
    return value === undefined || value < 0 ? undefined : BigInt(value);
  },
  print: String,
};

/** Gas target of blocks: with less, a chain stops at Amsterdam. */
export const gasTarget: ValueType<bigint> = {
  ...gas,
  expects: `an amount of gas, at least ${AMSTERDAM_GAS_LIMIT_MIN}`,
  parse(raw) {
    const value = gas.parse(raw);
    return value === undefined || value < AMSTERDAM_GAS_LIMIT_MIN ? undefined : value;
  },
};

/** Half of the largest 64-bit number, so that adding a block's gas does not overflow 64 bits. */
const GAS_LIMIT_UNLIMITED = 2n ** 63n - 1n;

/** Gas limit of a block, or unlimited. */
export const gasLimit: ValueType<bigint> = orNamed(
  "an amount of gas, or unlimited",
  "unlimited",
  GAS_LIMIT_UNLIMITED,
  gas,
);

/** Init code may be twice as long, which still fits into 31 bits. */
const CODE_SIZE_UNLIMITED = 2 ** 30 - 1;

/** Maximum bytes of a contract, or none. */
export const codeSizeLimit: ValueType<number> = orNamed(
  "a number of bytes, or none",
  "none",
  CODE_SIZE_UNLIMITED,
  integer(0, CODE_SIZE_UNLIMITED),
);

const BYTE_UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
};

/** A size in bytes: `5MiB`, `25MB`, `1024`. */
export const byteSize: ValueType<number> = {
  expects: "a size such as 1024, 25MB or 5MiB",
  parse: (raw) => scaled(raw, BYTE_UNITS),
  print: (value) => printScaled(value, ["GiB", "MiB", "KiB", "GB", "MB", "KB"], BYTE_UNITS),
};

const DURATION_UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Node's timers treat a longer delay as one millisecond. */
const DURATION_MAX = 2 ** 31 - 1;

/** A duration up to 24 days, parsed to milliseconds. A number without a unit is rejected: it could be seconds or milliseconds. */
export const duration: ValueType<number> = {
  expects: "a duration such as 500ms, 5s, 30m or 3h, up to 24 days",
  parse(raw) {
    if (raw === 0 || raw === "0") return 0;
    const value = typeof raw === "string" ? parseDuration(raw) : undefined;
    return value !== undefined && value <= DURATION_MAX ? value : undefined;
  },
  print: (value) => printScaled(value, ["h", "m", "s", "ms"], DURATION_UNITS),
};

/** Milliseconds of `500ms`, `5s`, `30m` or `3h`, unbounded; undefined for other text. */
export function parseDuration(text: string): number | undefined {
  return scaled(text, DURATION_UNITS);
}

/** 2100-01-01, the exclusive bound of dates. */
const DATE_END = 4_102_444_800;

/** A date from 1970 to 2099, parsed to Unix seconds. */
export const date: ValueType<number> = {
  expects: "a date such as 2026-01-31 or 2026-01-31T12:00:00Z, or Unix seconds, before 2100",
  parse(raw) {
    const text = typeof raw === "number" ? String(raw) : raw;
    if (typeof text !== "string") return undefined;
    const isDate = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$/.test(text);
    // 30 February would become a day in March.
    const isReal = isDate && new Date(text).getUTCDate() === Number(text.slice(8, 10));
    const seconds = isReal ? Date.parse(text) / 1_000 : /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    return seconds >= 0 && seconds < DATE_END ? seconds : undefined;
  },
  print: (value) => JSON.stringify(new Date(value * 1_000).toISOString().replace(".000", "")),
};

/** When the solo engine makes blocks. */
export const blockTime: ValueType<BlockTime> = {
  expects: "instant, manual, a duration such as 1s or 500ms, or two such as 1s/30s",
  parse(raw) {
    if (raw === "instant" || raw === "manual") return raw;
    const [interval, empty, ...rest] = typeof raw === "string" ? raw.split("/") : [raw];
    const intervalMs = duration.parse(interval!);
    if (!intervalMs || rest.length > 0) return undefined;
    if (empty === undefined) return { intervalMs };
    const emptyMs = duration.parse(empty);
    return emptyMs !== undefined && emptyMs >= intervalMs ? { intervalMs, emptyMs } : undefined;
  },
  print(value) {
    if (typeof value === "string") return JSON.stringify(value);
    const { intervalMs, emptyMs } = value;
    const interval = duration.print(intervalMs);
    return emptyMs === undefined ? interval : `${interval.slice(0, -1)}/${duration.print(emptyMs).slice(1)}`;
  },
};

const WEI_UNITS: Readonly<Record<string, bigint>> = {
  "": 1n,
  wei: 1n,
  gwei: 10n ** 9n,
  ether: 10n ** 18n,
};

/** An amount of the chain's currency, parsed to wei: `0`, `1gwei`, `0.5ether`. */
export const amount: ValueType<bigint> = {
  expects: "an amount such as 1000000 (wei), 1gwei or 0.5ether",
  parse(raw) {
    if (typeof raw === "number" || typeof raw === "bigint") return amount.parse(String(raw));
    if (typeof raw !== "string") return undefined;
    const match = /^(\d{1,30})(?:\.(\d{1,18}))? ?([a-z]*)$/.exec(raw);
    const unit = WEI_UNITS[match?.[3] ?? "?"];
    if (!match || unit === undefined) return undefined;
    const fraction = match[2] ?? "";
    const scaledUp = BigInt(match[1]! + fraction) * unit;
    const divisor = 10n ** BigInt(fraction.length);
    return scaledUp % divisor === 0n ? scaledUp / divisor : undefined;
  },
  print(value) {
    for (const unit of ["ether", "gwei"]) {
      const size = WEI_UNITS[unit]!;
      if (value !== 0n && value % size === 0n) return `"${value / size}${unit}"`;
    }
    return `"${value}"`;
  },
};

/** An amount that requires a unit: anvil would take a bare number for ether, not wei. */
export const amountWithUnit: ValueType<bigint> = {
  ...amount,
  expects: "an amount with its unit such as 10000ether or 5gwei",
  parse: (raw) => (typeof raw === "string" && /[a-z]$/.test(raw) ? amount.parse(raw) : undefined),
};

/** A listening address: `127.0.0.1:8545`, `[::1]:8545`, `localhost:0`; port 0 asks the system for a free one. */
export const hostPort: ValueType<HostPort> = textual(
  "HOST:PORT such as 127.0.0.1:8545",
  (raw) => {
    const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(raw);
    const port = Number(match?.[3]);
    if (!match || port > 65535) return undefined;
    return { host: match[1] ?? match[2]!, port };
  },
  formatHostPort,
);

export function formatHostPort({ host, port }: HostPort): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

export const text: ValueType<string> = textual("a text", (raw) => raw);

/** An HTTP or HTTPS URL without a password, because logs show it. */
export const httpUrl: ValueType<string> = textual("an http or https URL without a password", (raw) => {
  const { protocol, username, password } = new URL(raw);
  return /^https?:$/.test(protocol) && username === "" && password === "" ? raw : undefined;
});

/** `type`, or null if unset, which is written as an empty text. */
export function unset<T>(type: ValueType<T>): ValueType<T | null> {
  return orNamed(type.expects, "", null, type);
}

export function oneOf<const T extends string>(values: readonly T[]): ValueType<T> {
  return textual(`one of ${values.join(", ")}`, (raw) => values.find((value) => value === raw));
}

/** Texts: a TOML array, or comma-separated. Keeps the order and drops duplicates. */
export const list: ValueType<readonly string[]> = {
  expects: "a list with commas, or an array in the file",
  parse(raw) {
    const items = typeof raw === "string" ? raw.split(",").map((item) => item.trim()) : (raw as unknown);
    if (!Array.isArray(items) || !items.every((item) => typeof item === "string")) return undefined;
    return [...new Set(items as string[])].filter((item) => item !== "");
  },
  print: (value) => `[${value.map((item) => JSON.stringify(item)).join(", ")}]`,
};

/** `list` with an example. */
export function listSuchAs(example: string): ValueType<readonly string[]> {
  return { ...list, expects: `a list such as ${example}, or an array in the file` };
}

/** Origins of pages. An origin that begins with `+` extends the defaults instead of replacing them. */
export const origins: ValueType<readonly string[]> = {
  ...list,
  expects: "origins such as https://app.example.org, or +https://app.example.org in addition to the defaults",
  parse(raw) {
    const items = list.parse(raw);
    if (items?.some((item) => item.startsWith("+")) !== true) return items;
    return [...new Set([...DEFAULT_ALLOWED_ORIGINS, ...items.map((item) => item.replace(/^\+/, ""))])];
  },
};

/** RFC 9110: a token, and a value without control characters. */
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\x80-\xff]*)$/;

/** HTTP headers: a list of `Name: value`, or one text with a header per line, because values may contain commas. */
export const headers: ValueType<readonly (readonly [name: string, value: string])[]> = {
  expects: "headers such as authorization: Bearer KEY",
  parse(raw) {
    const lines = typeof raw === "string" ? raw.split("\n").filter((line) => line !== "") : (raw as unknown);
    if (!Array.isArray(lines)) return undefined;
    const pairs = lines.map((line) => {
      const match = typeof line === "string" ? HEADER.exec(line) : null;
      return match === null ? undefined : ([match[1]!.toLowerCase(), match[2]!.trimEnd()] as const);
    });
    return pairs.includes(undefined) ? undefined : (pairs as [string, string][]);
  },
  print: (value) => `[${value.map(([name, text]) => JSON.stringify(`${name}: ${text}`)).join(", ")}]`,
};

const NODE_ID = /^[0-9a-f]{40}$/i;
/** The host cannot contain a comma, which separates addresses. */
const NODE_ADDRESS = /^([0-9a-f]{40})@(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})$/i;

/** Ids of CometBFT's nodes, lower-case. */
export const nodeIds: ValueType<readonly string[]> = listOf("ids of nodes, 40 hex digits each", (item) =>
  NODE_ID.test(item) ? item.toLowerCase() : undefined,
);

/** Addresses of CometBFT's nodes: `id@host:port`, the id in lower case. */
export const nodeAddresses: ValueType<readonly string[]> = listOf("nodes as id@host:port", (item) => {
  const [, id, port] = NODE_ADDRESS.exec(item) ?? [];
  if (id === undefined || Number(port) > 65_535) return undefined;
  return `${id.toLowerCase()}${item.slice(id.length)}`;
});

function listOf(expects: string, parse: (item: string) => string | undefined): ValueType<readonly string[]> {
  return {
    expects: `a list of ${expects}`,
    parse(raw) {
      const items = list.parse(raw)?.map(parse);
      if (items === undefined || items.includes(undefined)) return undefined;
      return [...new Set(items as string[])];
    },
    print: list.print,
  };
}

/** A BIP-32 path from the root whose last number is not hardened: `m/44'/60'/0'/0`, also with a trailing slash, as in anvil. */
export const derivationPath: ValueType<string> = textual("a derivation path such as m/44'/60'/0'/0/", (raw) => {
  const path = raw.replace(/\/$/, "");
  const numbers = path.split("/").slice(1);
  const isPath = numbers.length <= 255 && /^m(?:\/\d{1,10}'?)*$/.test(path);
  return isPath && numbers.every((each) => Number.parseInt(each, 10) < 2 ** 31) ? path : undefined;
});

export const address: ValueType<Address> = textual("an address (0x and 40 hex digits)", parseAddress);

export const hash: ValueType<Hash> = textual("a hash (0x and 64 hex digits)", (raw) => parseHash(raw.toLowerCase()));

/** A CometBFT block: `HEIGHT:HASH`. */
export const trustedBlock: ValueType<{ readonly height: number; readonly hash: string }> = textual(
  "HEIGHT:HASH, with 64 hex digits",
  (raw) => {
    const [, height, hash] = /^([1-9]\d{0,14}):([0-9a-fA-F]{64})$/.exec(raw) ?? [];
    return hash === undefined ? undefined : { height: Number(height), hash };
  },
  ({ height, hash }) => `${height}:${hash}`,
);

export function bytes(maxLength: number): ValueType<Uint8Array> {
  return textual(
    `0x and the hex digits of at most ${maxLength} bytes`,
    (raw) => {
      const value = hexToBytes(raw);
      return value.length <= maxLength ? value : undefined;
    },
    bytesToHex,
  );
}

/** A type whose values are strings in TOML too. `parse` throws for invalid text. */
function textual<T>(
  expects: string,
  parse: (text: string) => T | undefined,
  format: (value: T) => string = String,
): ValueType<T> {
  return {
    expects,
    parse(raw) {
      try {
        return typeof raw === "string" ? parse(raw) : undefined;
      } catch {
        return undefined;
      }
    },
    print: (value) => JSON.stringify(format(value)),
  };
}

/** `type`, or `value` by its name. */
function orNamed<T, V>(expects: string, name: string, value: V, type: ValueType<T>): ValueType<T | V> {
  return {
    expects,
    parse: (raw) => (raw === name ? value : type.parse(raw)),
    print: (each) => (each === value ? JSON.stringify(name) : type.print(each as T)),
  };
}

/** An exact number; text may contain TOML's underscores, such as `1_000`. */
function wholeNumber(raw: RawValue): number | undefined {
  const value = typeof raw === "string" && /^-?\d+(_\d+)*$/.test(raw) ? Number(raw.replaceAll("_", "")) : raw;
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}

function scaled(raw: RawValue, units: Readonly<Record<string, number>>): number | undefined {
  const match = /^(\d+(?:\.\d+)?) ?([a-zA-Z]*)$/.exec(
    typeof raw === "number" ? String(raw) : typeof raw === "string" ? raw : "?",
  );
  const unit = units[match?.[2]?.toLowerCase() ?? "?"];
  const value = Number(match?.[1]) * (unit ?? Number.NaN);
  return Number.isSafeInteger(value) ? value : undefined;
}

function printScaled(value: number, names: readonly string[], units: Readonly<Record<string, number>>): string {
  const name = names.find((unit) => value !== 0 && value % units[unit.toLowerCase()]! === 0);
  return name === undefined ? `${value}` : `"${value / units[name.toLowerCase()]!}${name}"`;
}

/** One setting: the same key is its name in `app.toml`, as a flag (`--KEY`) and, in capitals, in the environment. */
export type Option<T> = {
  readonly key: string;
  readonly type: ValueType<T>;
  readonly default: T;
  /** The default with `--dev`, where it differs. */
  readonly dev?: T;
  /** The value that `init` writes to a new `app.toml`, if not the default. */
  readonly init?: T;
  /** One sentence for help and `app.toml`. */
  readonly description: string;
};

// T is inferred only from the type, so that a literal default does not narrow it.
export function option<T>(
  key: string,
  type: ValueType<T>,
  value: NoInfer<T>,
  rest: {
    readonly dev?: NoInfer<T>;
    readonly init?: NoInfer<T>;
    readonly description: string;
  },
): Option<T> {
  return { key, type, default: value, ...rest };
}
