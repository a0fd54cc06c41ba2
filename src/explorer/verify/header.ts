import type { Hash } from "../../primitives/hash.ts";
import { EMPTY_UNCLES_HASH } from "../../types/constants.ts";
import type { Header } from "../../types/header.ts";
import { headerHash } from "../../types/header-codec.ts";
import { addressOf, bigintOf, bytesOf, hashOf, type Json, numberOf } from "./json.ts";
import { compare, VERIFIED, type Verdict, verdictOf, worstOf } from "./verdict.ts";

/** After the merge these have one value, which a node may leave out. */
const NONCE_AFTER_MERGE = new Uint8Array(8);

/**
 * The header in a block as `eth_getBlockByNumber` answers it.
 * @throws InvalidHexError
 */
export function headerOf(block: Json): Header {
  const optional = <T>(name: keyof Header, read: (value: unknown) => T) =>
    block[name] === undefined || block[name] === null ? {} : { [name]: read(block[name]) };
  return {
    parentHash: hashOf(block["parentHash"]),
    sha3Uncles: hashOf(block["sha3Uncles"] ?? EMPTY_UNCLES_HASH),
    coinbase: addressOf(block["miner"]),
    stateRoot: hashOf(block["stateRoot"]),
    transactionsRoot: hashOf(block["transactionsRoot"]),
    receiptsRoot: hashOf(block["receiptsRoot"]),
    logsBloom: bytesOf(block["logsBloom"]),
    difficulty: bigintOf(block["difficulty"] ?? "0x0"),
    number: numberOf(block["number"]),
    gasLimit: bigintOf(block["gasLimit"]),
    gasUsed: bigintOf(block["gasUsed"]),
    timestamp: numberOf(block["timestamp"]),
    extraData: bytesOf(block["extraData"]),
    mixHash: hashOf(block["mixHash"]),
    nonce: (block["nonce"] ?? null) === null ? NONCE_AFTER_MERGE : bytesOf(block["nonce"]),
    ...optional("baseFeePerGas", bigintOf),
    ...optional("withdrawalsRoot", hashOf),
    ...optional("blobGasUsed", bigintOf),
    ...optional("excessBlobGas", bigintOf),
    ...optional("parentBeaconBlockRoot", hashOf),
    ...optional("requestsHash", hashOf),
  };
}

/** What a block was asked by. */
export type Asked = { readonly hash: Hash } | { readonly number: number };

/** Whether the fields of `block` hash to its `hash`, and it is the one that was asked for. */
export function checkHeader(block: Json, asked?: Asked): Verdict {
  return verdictOf(() => {
    const header = headerOf(block);
    const hash = headerHash(header);
    return worstOf([
      compare("block hash", block["hash"], hash),
      asked && "hash" in asked ? compare("block hash", asked.hash, hash) : VERIFIED,
      asked && "number" in asked ? compare("block number", asked.number, header.number) : VERIFIED,
    ]);
  });
}
