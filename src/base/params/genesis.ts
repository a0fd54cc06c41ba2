import { type Address, checksumAddress, parseAddress, ZERO_ADDRESS } from "../primitives/address.ts";
import { bigintToFixedBytes, EMPTY_BYTES } from "../primitives/bytes.ts";
import { type Hash, hashFromBigint, parseHash, ZERO_HASH } from "../primitives/hash.ts";
import { hexToBytes, InvalidHexError } from "../primitives/hex.ts";
import type { JsonObject } from "../primitives/shape.ts";
import type { ChainConfig } from "./chain-config.ts";
import { gasLimitFault } from "./execution-limits.ts";
import { REQUEST_CONTRACTS } from "./gas.ts";
import type { GenesisAccount, GenesisAlloc } from "./genesis-account.ts";
import { readChainConfig } from "./genesis-config.ts";
import {
  fieldPath,
  InvalidGenesisError,
  parseJsonKeepingIntegers,
  readInteger,
  readObject,
  readOptional,
  readSafeInteger,
  readText,
} from "./genesis-json.ts";
import { hardforkAt, isTimeForkActive, RULES_AT, timeFieldOf } from "./hardforks.ts";

/** Block 0 and the rules of its chain, as in a geth genesis file. */
export type Genesis = {
  readonly config: ChainConfig;
  readonly alloc: GenesisAlloc;
  readonly parentHash: Hash;
  readonly coinbase: Address;
  readonly difficulty: bigint;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  readonly timestamp: number;
  readonly extraData: Uint8Array;
  readonly mixHash: Hash;
  /** 8 bytes */
  readonly nonce: Uint8Array;
  readonly baseFeePerGas?: bigint;
  readonly blobGasUsed?: bigint;
  readonly excessBlobGas?: bigint;
  /** Absent: 0 */
  readonly slotNumber?: bigint;
};

/**
 * The contracts that scheduled forks need and block 0 lacks; they can be deployed before the fork.
 * @throws InvalidGenesisError if such a fork is active from block 0 on: no block can follow it
 */
export function contractsToDeploy({ config, alloc, timestamp }: Genesis): typeof REQUEST_CONTRACTS {
  const missing = REQUEST_CONTRACTS.filter(
    ({ address, since }) => config[timeFieldOf(since)!] !== undefined && !alloc.get(address)?.code?.length,
  );
  const hardfork = hardforkAt(config, { number: 0, timestamp, difficulty: 0n });
  const first = missing.find(({ since }) => RULES_AT[hardfork][since]);
  if (first !== undefined) {
    const field = `config.${timeFieldOf(first.since)}`;
    throw new InvalidGenesisError(
      fieldPath("alloc", checksumAddress(first.address)),
      `no code (${first.eip}), without which no block is valid from this fork on, and ${field} is not after block 0: add the contract, or set a later time`,
    );
  }
  return missing;
}

/** Top-level members of a Cosmos SDK genesis. */
const COSMOS_KEYS = ["app_state", "genesis_time", "consensus_params", "consensus"];

/**
 * Parses a geth genesis file. Ignores unknown keys, as geth does.
 * @throws InvalidGenesisError naming the field
 */
export function parseGenesis(text: string): Genesis {
  return genesisFromJson(parseJsonKeepingIntegers(text));
}

/**
 * The genesis in a parsed genesis file. Integers beyond 2^53 must be strings here: use `parseGenesis` on a file's text.
 * @throws InvalidGenesisError naming the field
 */
export function genesisFromJson(json: unknown): Genesis {
  const file = readObject(json, "genesis");
  if (COSMOS_KEYS.some((key) => key in file)) {
    throw new InvalidGenesisError(
      "genesis",
      "this is a genesis of a Cosmos SDK chain; a geth genesis has config and alloc",
    );
  }
  if ((readOptional(file, "", "number", readSafeInteger) ?? 0) !== 0) {
    throw new InvalidGenesisError("number", "can't commit genesis block with number > 0");
  }
  const optionalInteger = (key: string, bits: number) =>
    readOptional(file, "", key, (value, field) => readInteger(value, field, bits));
  const baseFeePerGas = optionalInteger("baseFeePerGas", 256);
  const blobGasUsed = optionalInteger("blobGasUsed", 64);
  const excessBlobGas = optionalInteger("excessBlobGas", 64);
  const slotNumber = optionalInteger("slotNumber", 64);
  const config = readChainConfig(required(file, "config"));
  const alloc = readAlloc(required(file, "alloc"));
  checkPermissionsContract(config, alloc);
  const gasLimit = readInteger(required(file, "gasLimit"), "gasLimit", 64);
  const timestamp = readOptional(file, "", "timestamp", readSafeInteger) ?? 0;
  checkGasLimit(config, gasLimit, timestamp);
  return {
    config,
    alloc,
    parentHash: readOptional(file, "", "parentHash", readHash) ?? ZERO_HASH,
    coinbase: readOptional(file, "", "coinbase", readAddress) ?? ZERO_ADDRESS,
    difficulty: readInteger(required(file, "difficulty"), "difficulty", 256),
    gasLimit,
    gasUsed: optionalInteger("gasUsed", 64) ?? 0n,
    timestamp,
    extraData: readOptional(file, "", "extraData", readBytes) ?? EMPTY_BYTES,
    mixHash: readOptional(file, "", "mixHash", readHash) ?? ZERO_HASH,
    nonce: bigintToFixedBytes(optionalInteger("nonce", 64) ?? 0n, 8),
    ...(baseFeePerGas !== undefined && { baseFeePerGas }),
    ...(blobGasUsed !== undefined && { blobGasUsed }),
    ...(excessBlobGas !== undefined && { excessBlobGas }),
    ...(slotNumber !== undefined && { slotNumber }),
  };
}

/** The gas limit changes by 1/1024 per block, and an Amsterdam block whose limit is too low for its access list has no successor. */
function checkGasLimit(config: ChainConfig, gasLimit: bigint, timestamp: number): void {
  const fault = isTimeForkActive(config, "amsterdamTime", timestamp) ? gasLimitFault(config, gasLimit) : undefined;
  if (fault !== undefined) throw new InvalidGenesisError("gasLimit", fault);
}

/** If block 0 allows no account to send, no one can ever change that. */
function checkPermissionsContract({ accountPermissions: address }: ChainConfig, alloc: GenesisAlloc): void {
  if (address === undefined) return;
  const { code = EMPTY_BYTES, storage = NO_STORAGE } = alloc.get(address) ?? {};
  if (code.length > 0 && storage.size > 0) return;
  const missing = code.length === 0 ? "code" : "storage";
  throw new InvalidGenesisError("config.evmint.accountPermissions", `alloc has no ${missing} at ${address}`);
}

function required(file: JsonObject, key: string): unknown {
  const value = file[key];
  if (value === undefined || value === null) {
    throw new InvalidGenesisError(key, `missing required field '${key}' for Genesis`);
  }
  return value;
}

function readAlloc(json: unknown): GenesisAlloc {
  const alloc = new Map<Address, GenesisAccount>();
  for (const [key, value] of Object.entries(readObject(json, "alloc"))) {
    addAccount(alloc, key, value);
  }
  return alloc;
}

function addAccount(alloc: Map<Address, GenesisAccount>, key: string, json: unknown): void {
  const field = fieldPath("alloc", key);
  const address = readAddress(/^0[xX]/.test(key) ? key : `0x${key}`, field);
  if (alloc.has(address)) throw new InvalidGenesisError(field, "account given twice");
  alloc.set(address, readAccount(readObject(json, field), field));
}

function readAccount(json: JsonObject, field: string): GenesisAccount {
  const { balance } = json;
  if (balance === undefined || balance === null) {
    throw new InvalidGenesisError(field, "missing required field 'balance' for GenesisAccount");
  }
  return {
    balance: readInteger(balance, fieldPath(field, "balance"), 256),
    nonce: readOptional(json, field, "nonce", (value, at) => readInteger(value, at, 64)) ?? 0n,
    code: readOptional(json, field, "code", readBytes) ?? EMPTY_BYTES,
    storage: readOptional(json, field, "storage", readStorage) ?? NO_STORAGE,
  };
}

/** Shared by all accounts without storage: a million empty Maps take 190 MB. */
const NO_STORAGE: ReadonlyMap<Hash, bigint> = new Map();

function readStorage(json: unknown, field: string): ReadonlyMap<Hash, bigint> {
  const storage = new Map<Hash, bigint>();
  for (const [key, value] of Object.entries(readObject(json, field))) {
    const at = fieldPath(field, key);
    const word = readWord(value, at);
    // A slot of value 0 does not exist (Yellow Paper 4.1).
    if (word !== 0n) storage.set(hashFromBigint(readWord(key, at)), word);
  }
  return storage;
}

/** Up to 32 bytes of hex, prefix optional, left-padded: geth's form of storage. */
function readWord(json: unknown, field: string): bigint {
  const text = readText(json, field);
  const digits = text.replace(/^0[xX]/, "");
  if (digits.length > 64) throw new InvalidGenesisError(field, "too many hex digits in storage");
  if (!/^[0-9a-fA-F]*$/.test(digits)) throw new InvalidGenesisError(field, "invalid hex string");
  return digits === "" ? 0n : BigInt(`0x${digits}`);
}

function readAddress(json: unknown, field: string): Address {
  return wrapHex(field, () => parseAddress(readText(json, field)));
}

function readHash(json: unknown, field: string): Hash {
  return wrapHex(field, () => parseHash(readText(json, field)));
}

function readBytes(json: unknown, field: string): Uint8Array {
  return wrapHex(field, () => {
    const text = readText(json, field);
    return text === "" ? EMPTY_BYTES : hexToBytes(text);
  });
}

function wrapHex<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidHexError) throw new InvalidGenesisError(field, error.reason);
    throw error;
  }
}
