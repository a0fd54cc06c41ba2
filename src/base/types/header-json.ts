import type { Address } from "../primitives/address.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import type { Hash } from "../primitives/hash.ts";
import { BLOOM_LENGTH } from "./bloom.ts";
import { EMPTY_UNCLES_HASH } from "./constants.ts";
import type { Header } from "./header.ts";

/** Decoders of unchecked JSON members by value and name; each throws an error that its caller reports. */
export type HeaderReaders = {
  hash(value: unknown, name: string): Hash;
  address(value: unknown, name: string): Address;
  bytes(value: unknown, lengthMax: number | undefined, name: string): Uint8Array;
  /** 256 bits. */
  word(value: unknown, name: string): bigint;
  /** 64 bits. */
  gas(value: unknown, name: string): bigint;
  /** A safe integer. */
  number(value: unknown, name: string): number;
};

const NONCE_ZERO = "0x0000000000000000";

/**
 * The header of a block in the form of `eth_getBlockByNumber`.
 *
 * Nonce, difficulty and uncles are constant since the merge (EIP-3675), and some nodes return null for them.
 * @throws errors of the readers
 */
export function headerFromJson(
  json: Readonly<Record<string, unknown>>,
  { hash, address, bytes, word, gas, number }: HeaderReaders,
): Header {
  const optional = <T>(name: keyof Header, read: (value: unknown, name: string) => T) =>
    json[name] === undefined || json[name] === null ? {} : { [name]: read(json[name], name) };
  return {
    parentHash: hash(json["parentHash"], "parentHash"),
    sha3Uncles: hash(json["sha3Uncles"] ?? EMPTY_UNCLES_HASH, "sha3Uncles"),
    coinbase: address(json["miner"], "miner"),
    stateRoot: hash(json["stateRoot"], "stateRoot"),
    transactionsRoot: hash(json["transactionsRoot"], "transactionsRoot"),
    receiptsRoot: hash(json["receiptsRoot"], "receiptsRoot"),
    logsBloom: bytes(json["logsBloom"], BLOOM_LENGTH, "logsBloom"),
    difficulty: word(json["difficulty"] ?? "0x0", "difficulty"),
    number: number(json["number"], "number"),
    gasLimit: gas(json["gasLimit"], "gasLimit"),
    gasUsed: gas(json["gasUsed"], "gasUsed"),
    timestamp: number(json["timestamp"], "timestamp"),
    extraData: json["extraData"] == null ? EMPTY_BYTES : bytes(json["extraData"], undefined, "extraData"),
    mixHash: hash(json["mixHash"], "mixHash"),
    nonce: bytes(json["nonce"] ?? NONCE_ZERO, 8, "nonce"),
    ...optional("baseFeePerGas", word),
    ...optional("withdrawalsRoot", hash),
    ...optional("blobGasUsed", gas),
    ...optional("excessBlobGas", gas),
    ...optional("parentBeaconBlockRoot", hash),
    ...optional("requestsHash", hash),
    ...optional("blockAccessListHash", hash),
    ...optional("slotNumber", gas),
  };
}
