import type { Address } from "../primitives/address.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import type { Hash } from "../primitives/hash.ts";
import { BLOOM_LENGTH } from "./bloom.ts";
import { EMPTY_UNCLES_HASH } from "./constants.ts";
import type { Header } from "./header.ts";

/** How members of JSON that nobody has checked are decoded; each throws what its caller reports. */
export type HeaderReaders = {
  hash(value: unknown): Hash;
  address(value: unknown): Address;
  bytes(value: unknown, lengthMax?: number): Uint8Array;
  /** Of 256 bits. */
  word(value: unknown): bigint;
  /** Of 64 bits. */
  gas(value: unknown): bigint;
  /** A safe integer. */
  number(value: unknown): number;
};

const NONCE_ZERO = "0x0000000000000000";

/**
 * The header in a block as `eth_getBlockByNumber` answers it.
 *
 * Nonce, difficulty and uncles are constants since the merge (EIP-3675), and some nodes answer null for them.
 * @throws what the readers throw
 */
export function headerFromJson(
  json: Readonly<Record<string, unknown>>,
  { hash, address, bytes, word, gas, number }: HeaderReaders,
): Header {
  const optional = <T>(name: keyof Header, read: (value: unknown) => T) =>
    json[name] === undefined || json[name] === null ? {} : { [name]: read(json[name]) };
  return {
    parentHash: hash(json["parentHash"]),
    sha3Uncles: hash(json["sha3Uncles"] ?? EMPTY_UNCLES_HASH),
    coinbase: address(json["miner"]),
    stateRoot: hash(json["stateRoot"]),
    transactionsRoot: hash(json["transactionsRoot"]),
    receiptsRoot: hash(json["receiptsRoot"]),
    logsBloom: bytes(json["logsBloom"], BLOOM_LENGTH),
    difficulty: word(json["difficulty"] ?? "0x0"),
    number: number(json["number"]),
    gasLimit: gas(json["gasLimit"]),
    gasUsed: gas(json["gasUsed"]),
    timestamp: number(json["timestamp"]),
    extraData: json["extraData"] == null ? EMPTY_BYTES : bytes(json["extraData"]),
    mixHash: hash(json["mixHash"]),
    nonce: bytes(json["nonce"] ?? NONCE_ZERO, 8),
    ...optional("baseFeePerGas", word),
    ...optional("withdrawalsRoot", hash),
    ...optional("blobGasUsed", gas),
    ...optional("excessBlobGas", gas),
    ...optional("parentBeaconBlockRoot", hash),
    ...optional("requestsHash", hash),
  };
}
