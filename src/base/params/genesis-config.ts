import { parseAddress } from "../primitives/address.ts";
import { InvalidHexError } from "../primitives/hex.ts";
import { nearest } from "../primitives/nearest.ts";
import type { JsonObject } from "../primitives/shape.ts";
import { BLOB_FORKS, DEFAULT_BLOB_SCHEDULE } from "./blob-schedule.ts";
import type { BlobParams, ChainConfig } from "./chain-config.ts";
import {
  fieldPath,
  InvalidGenesisError,
  readBoolean,
  readInteger,
  readObject,
  readOptional,
  readSafeInteger,
  readText,
} from "./genesis-json.ts";
import { type BlockForkField, FORKS, type TimeForkField } from "./hardforks.ts";

type ForkField = BlockForkField | TimeForkField;

/** Later blob parameter forks. They and Amsterdam are unordered: a chain may take its third blob fork before or after Amsterdam. */
const LATE_BLOB_FORK = /^bpo[345]Time$/;

/** Keys of `config` besides forks. */
const OTHER_KEYS = [
  "chainId",
  "daoForkSupport",
  "terminalTotalDifficulty",
  "depositContractAddress",
  "zeroBaseFee",
  "blobSchedule",
  "evmint",
];

/** Missing, doubled or swapped letters. */
const MISSPELT_EDITS = 2;

/**
 * A key that looks like a fork must be one: ignoring an unknown fork would give the chain other rules than its file states. geth accepts keys in
 * any letter case. Other unknown keys are ignored, as in geth.
 * @throws InvalidGenesisError
 */
function assertKnownForks(file: JsonObject): void {
  const known = [...FORKS.map(({ field }) => field), ...OTHER_KEYS] as readonly string[];
  for (const [key, value] of Object.entries(file)) {
    if (value === null || known.includes(key)) continue;
    const field = fieldPath("config", key);
    const meant = known.find((name) => name.toLowerCase() === key.toLowerCase());
    if (meant !== undefined) throw new InvalidGenesisError(field, `write ${meant}`);
    const near = nearest(key, known, MISSPELT_EDITS);
    const guess = near === undefined ? "" : `; did you mean ${near}?`;
    if (/(time|block)$/i.test(key)) {
      throw new InvalidGenesisError(
        field,
        `this version has no rules for such a fork (its last ones are amsterdamTime and bpo5Time)${guess || "; remove the key, or install a version that has them"}`,
      );
    }
    if (near !== undefined) throw new InvalidGenesisError(field, `unknown key${guess}`);
  }
}

/**
 * The `config` object of a genesis file.
 * @throws InvalidGenesisError naming the field
 */
export function readChainConfig(json: unknown): ChainConfig {
  const file = readObject(json, "config");
  assertKnownForks(file);
  const chainId = readOptional(file, "config", "chainId", (value, field) => readInteger(value, field, 256));
  if (chainId === undefined) throw new InvalidGenesisError("config.chainId", "missing");
  const forks: { [Field in ForkField]?: number } = {};
  for (const { field } of FORKS) {
    const at = readOptional(file, "config", field, readSafeInteger);
    if (at !== undefined) forks[field] = at;
  }
  assertForkOrder(forks);
  const daoForkSupport = readOptional(file, "config", "daoForkSupport", readBoolean);
  const terminalTotalDifficulty = readOptional(file, "config", "terminalTotalDifficulty", (value, field) =>
    readInteger(value, field, 256),
  );
  const depositContractAddress = readOptional(file, "config", "depositContractAddress", readAddressField);
  const zeroBaseFee = readOptional(file, "config", "zeroBaseFee", readBoolean) ?? false;
  return {
    chainId,
    ...forks,
    ...agreedAtGenesis(file, zeroBaseFee),
    ...(daoForkSupport !== undefined && { daoForkSupport }),
    ...(terminalTotalDifficulty !== undefined && { terminalTotalDifficulty }),
    ...(depositContractAddress !== undefined && { depositContractAddress }),
    blobSchedule: readBlobSchedule(file, forks),
  };
}

/** Rules that nodes of this program agree on from block 1 on; other programs ignore the section `evmint`. */
const AGREED_KEYS = ["minimumTip", "jail", "accountPermissions", "codeSizeLimit", "noTxGasLimit"];
/** The maximum contract size and twice that size must fit 32 bits in the EVM. */
const CODE_SIZE_BITS = 30;

/** A chain without a base fee accepts tips of 0, unless its genesis says otherwise. @throws InvalidGenesisError */
function agreedAtGenesis(
  file: JsonObject,
  zeroBaseFee: boolean,
): Pick<ChainConfig, "zeroBaseFee" | "minimumTip" | "jail" | "accountPermissions" | "codeSizeMax" | "noTxGasLimit"> {
  const path = "config.evmint";
  const section = readOptional(file, "config", "evmint", readObject) ?? {};
  // Unlike elsewhere in the file, an unknown key is an error: a rule that only some nodes read splits the chain.
  const unknown = Object.keys(section).find((key) => !AGREED_KEYS.includes(key));
  if (unknown !== undefined) throw new InvalidGenesisError(fieldPath(path, unknown), "unknown rule");
  const given = readOptional(section, path, "minimumTip", (value, field) => readInteger(value, field, 64));
  const minimumTip = given ?? (zeroBaseFee ? 0n : undefined);
  const jail = readOptional(section, path, "jail", readBoolean) ?? false;
  const accountPermissions = readOptional(section, path, "accountPermissions", readAddressField);
  const codeSizeMax = readOptional(section, path, "codeSizeLimit", (value, field) =>
    readInteger(value, field, CODE_SIZE_BITS),
  );
  const noTxGasLimit = readOptional(section, path, "noTxGasLimit", readBoolean) ?? false;
  return {
    ...(zeroBaseFee && { zeroBaseFee }),
    ...(minimumTip !== undefined && { minimumTip }),
    ...(jail && { jail }),
    ...(accountPermissions !== undefined && { accountPermissions }),
    ...(codeSizeMax !== undefined && { codeSizeMax: Number(codeSizeMax) }),
    ...(noTxGasLimit && { noTxGasLimit }),
  };
}

/**
 * Checks that each fork is at or after its predecessor, with none left out: a fork's rules build on all earlier ones.
 * @throws InvalidGenesisError
 */
export function assertForkOrder(forks: Readonly<{ [Field in ForkField]?: number }>): void {
  assertAscending(
    forks,
    FORKS.filter(({ field }) => !LATE_BLOB_FORK.test(field)),
  );
  assertAscending(
    forks,
    FORKS.filter(({ field }) => field !== "amsterdamTime"),
  );
}

function assertAscending(forks: Readonly<{ [Field in ForkField]?: number }>, order: typeof FORKS): void {
  let last: { readonly field: ForkField; readonly at: number | undefined } | undefined;
  for (const { field, isOptional } of order) {
    const at = forks[field];
    if (last && at !== undefined) {
      if (last.at === undefined) {
        throw new InvalidGenesisError(
          fieldPath("config", field),
          `unsupported fork ordering: ${last.field} not enabled, but ${field} enabled at ${at}`,
        );
      }
      const comparable = last.field.endsWith("Block") === field.endsWith("Block");
      if (comparable && last.at > at) {
        throw new InvalidGenesisError(
          fieldPath("config", field),
          `unsupported fork ordering: ${last.field} enabled at ${last.at}, but ${field} enabled at ${at}`,
        );
      }
    }
    if (!isOptional || at !== undefined) last = { field, at };
  }
}

/** The entries of the file, with the EIP's values for scheduled forks without an entry; blob parameter forks have no such values. */
function readBlobSchedule(
  config: JsonObject,
  forks: Readonly<{ [Field in ForkField]?: number }>,
): Readonly<Record<string, BlobParams>> {
  const given = readOptional(config, "config", "blobSchedule", readObject) ?? {};
  const schedule: Record<string, BlobParams> = {};
  for (const [name, timeField] of BLOB_FORKS) {
    const params = readOptional(given, "config.blobSchedule", name, readBlobParams);
    if (params) schedule[name] = params;
    else if (forks[timeField] !== undefined) {
      const preset = DEFAULT_BLOB_SCHEDULE[name];
      if (!preset || name.startsWith("bpo")) {
        throw new InvalidGenesisError(`config.blobSchedule.${name}`, `missing, but ${timeField} is set`);
      }
      // Osaka changes no blob limit: without an entry, Prague's stay, which the file may have set.
      if (name !== "osaka") schedule[name] = preset;
    }
  }
  return schedule;
}

function readBlobParams(json: unknown, field: string): BlobParams {
  const entry = readObject(json, field);
  const integer = (key: string): bigint => {
    const value = readOptional(entry, field, key, (raw, at) => readInteger(raw, at, 64));
    if (value === undefined) throw new InvalidGenesisError(fieldPath(field, key), "missing");
    return value;
  };
  const target = Number(integer("target"));
  const max = Number(integer("max"));
  if (target > max) throw new InvalidGenesisError(fieldPath(field, "target"), "above max");
  const baseFeeUpdateFraction = integer("baseFeeUpdateFraction");
  if (baseFeeUpdateFraction === 0n) {
    throw new InvalidGenesisError(fieldPath(field, "baseFeeUpdateFraction"), "zero");
  }
  return { target, max, baseFeeUpdateFraction };
}

function readAddressField(json: unknown, field: string) {
  try {
    return parseAddress(readText(json, field));
  } catch (error) {
    if (error instanceof InvalidHexError) throw new InvalidGenesisError(field, error.reason);
    throw error;
  }
}
