import { parse as parseToml } from "smol-toml";
import { nearest } from "../../base/primitives/nearest.ts";
import { ifPresent } from "../../store/storage/if-present.ts";
import { readTextFile } from "../../store/storage/read-file.ts";
import { positionInAppToml } from "./app-toml.ts";
import { type Config, type LimitChanges, type LoadedConfig, limitsWith } from "./config.ts";
import { DEV_FLAG_OPTIONS, DEV_FLAGS } from "./dev-flags.ts";
import { InvalidConfigError, UnknownConfigKeyError } from "./errors.ts";
import { appTomlPath, CONFIG_FILE_BYTES_MAX } from "./home.ts";
import { environmentName, OPTIONS, SCHEMA } from "./schema.ts";
import { fateOfKey } from "./unknown-keys.ts";
import type { Option, RawValue } from "./value-types.ts";

export type ConfigSources = {
  readonly home: string;
  readonly dev: boolean;
  /** See `Config`. */
  readonly acceptsClock?: boolean;
  /** By key, without leading dashes. */
  readonly flags: Readonly<Record<string, string | true>>;
  /** What errors call the source of `flags` if they did not come from a command line: "settings of createNode". */
  readonly flagsSource?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** For tests. */
  readonly limits?: LimitChanges;
};

/** Variables with our prefix that are not settings. */
const OTHER_VARIABLES = new Set(["EVMINT_HOME", "EVMINT_TOKEN", "EVMINT_FIXTURES"]);
/** Variables that Kubernetes sets in every container next to a service named `evmint`. */
const SERVICE_VARIABLE = /^EVMINT_(SERVICE_(HOST|PORT)|PORT)(_|$)/;

type Found = {
  readonly raw: RawValue;
  /** See `LoadedConfig.origins`. */
  readonly origin: string;
  /** The line of a file; computed only for errors. */
  readonly place?: () => string;
};

/**
 * The settings of a node, by precedence: flags, environment, `config/app.toml`, defaults.
 * @throws InvalidConfigError, UnknownConfigKeyError
 */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const flags = fromFlags(sources);
  // Highest precedence first.
  const layers = [flags, fromEnvironment(sources.environment), fromFile(sources)];
  const origins = new Map<string, string>();

  function settingOf(option: Option<unknown>): unknown {
    for (const layer of layers) {
      const found = layer.get(option.key);
      if (found === undefined) continue;
      origins.set(option.key, found.origin);
      return read(option, found);
    }
    const dev = sources.dev && option.dev !== undefined;
    origins.set(option.key, dev ? "--dev" : "default");
    return dev ? option.dev : option.default;
  }

  const groups = Object.entries(SCHEMA).map(([group, options]) => {
    const values = Object.entries(options).map(([name, option]) => [
      name,
      freeze(settingOf(option as Option<unknown>)),
    ]);
    return [group, Object.freeze(Object.fromEntries(values))];
  });
  const settings = Object.fromEntries(groups) as Config;
  const config = {
    ...settings,
    devChain: Object.freeze({ ...settings.devChain, ...devFlagsOf(flags) }),
    limits: limitsWith(sources.limits),
    home: sources.home,
    dev: sources.dev,
    acceptsClock: sources.acceptsClock ?? false,
  };
  return { config: Object.freeze(config), origins };
}

function devFlagsOf(flags: ReadonlyMap<string, Found>): Config["devChain"] {
  const values = Object.entries(DEV_FLAGS).map(([name, option]) => {
    const found = flags.get(option.key);
    return [name, freeze(found === undefined ? option.default : read(option as Option<unknown>, found))];
  });
  return Object.fromEntries(values) as Config["devChain"];
}

function read(option: Option<unknown>, { raw, origin, place }: Found): unknown {
  const value = option.type.parse(raw);
  if (value !== undefined) return value;
  const shown = typeof raw === "string" ? JSON.stringify(raw) : String(raw);
  const source = place?.() ?? origin;
  throw new InvalidConfigError(`${option.key}: ${shown} is not ${option.type.expects} (${source})`, {
    key: option.key,
    origin: source,
  });
}

function fromFlags({ flags, flagsSource }: ConfigSources): Map<string, Found> {
  const found = new Map<string, Found>();
  const spell = (key: string) => (flagsSource === undefined ? `--${key}` : key);
  for (const [key, raw] of Object.entries(flags)) {
    if (!isKey(key) && !isDevFlag(key)) throw unknown(spell(key), flagsSource ?? "command line", spell);
    found.set(key, { raw, origin: flagsSource ?? spell(key) });
  }
  return found;
}

function fromEnvironment(environment: ConfigSources["environment"]): Map<string, Found> {
  const keys = new Map(OPTIONS.map(({ key }) => [environmentName(key), key]));
  const found = new Map<string, Found>();
  for (const [name, raw] of Object.entries(environment)) {
    if (!name.startsWith("EVMINT_") || OTHER_VARIABLES.has(name) || raw === undefined) continue;
    const key = keys.get(name);
    if (key === undefined && SERVICE_VARIABLE.test(name)) continue;
    if (key === undefined) throw unknown(name, "environment", environmentName);
    found.set(key, { raw, origin: `environment ${name}` });
  }
  return found;
}

function fromFile({ home }: ConfigSources): Map<string, Found> {
  const path = appTomlPath(home);
  const found = new Map<string, Found>();
  const text = readText(path);
  const placeOf = (key: string) => {
    const position = positionInAppToml(text, key);
    return position === undefined ? path : `${path}:${position.line}:${position.column}`;
  };
  for (const [key, raw] of settingsOf(parse(path, text))) {
    if (!isKey(key)) throw unknown(key, placeOf(key), (known) => known);
    found.set(key, { raw, origin: path, place: () => placeOf(key) });
  }
  return found;
}

/**
 * Empty if the file does not exist.
 * @throws InvalidConfigError if it cannot be read
 */
function readText(path: string): string {
  try {
    return ifPresent(() => readTextFile(path, { bytesMax: CONFIG_FILE_BYTES_MAX })) ?? "";
  } catch (error) {
    throw new InvalidConfigError(`${path}: ${(error as Error).message}`, {}, { cause: error });
  }
}

/** @throws InvalidConfigError when `text` is not TOML */
function parse(path: string, text: string): object {
  try {
    return parseToml(text);
  } catch (error) {
    const { message, line, column } = error as Error & { line?: number; column?: number };
    const place = line === undefined ? path : `${path}:${line}:${column}`;
    // The parser does not name the duplicate key.
    const key = line === undefined ? undefined : /^\s*([\w.-]+)\s*=/.exec(text.split("\n")[line - 1] ?? "")?.[1];
    const of = key === undefined ? "" : ` (${key})`;
    throw new InvalidConfigError(`${place}: ${message.split("\n")[0]}${of}`, {}, { cause: error });
  }
}

/** The leaves of nested tables with their dotted keys. */
function* settingsOf(table: object, prefix = ""): Iterable<[string, RawValue]> {
  for (const [name, value] of Object.entries(table)) {
    const isTable = typeof value === "object" && !Array.isArray(value) && !(value instanceof Date);
    if (isTable) yield* settingsOf(value, `${prefix}${name}.`);
    else yield [`${prefix}${name}`, value];
  }
}

function isKey(key: string): boolean {
  return OPTIONS.some((option) => option.key === key);
}

function isDevFlag(name: string): boolean {
  return DEV_FLAG_OPTIONS.some((option) => option.key === name);
}

function unknown(name: string, source: string, spell: (key: string) => string): UnknownConfigKeyError {
  const fate = fateOfKey(name, spell);
  const candidates = OPTIONS.map(({ key }) => spell(key));
  return new UnknownConfigKeyError({
    key: name,
    source,
    ...(fate === undefined ? { nearest: nearest(name, candidates) } : { nearest: undefined, fate }),
  });
}

function freeze(value: unknown): unknown {
  // The bytes of a typed array cannot be frozen.
  return typeof value === "object" && !(value instanceof Uint8Array) ? Object.freeze(value) : value;
}
