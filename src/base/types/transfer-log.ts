import type { Address } from "../primitives/address.ts";
import { bigintToFixedBytes } from "../primitives/bytes.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Log } from "./receipt.ts";

/** keccak256("Transfer(address,address,uint256)"), the event of ERC-20 */
export const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef" as Hash;

/**
 * The log of an ether transfer, in the form of ERC-20 (EIP-7708).
 * @param address the log's emitter
 * @param value wei
 */
export function transferLog(address: Address, from: Address, to: Address, value: bigint): Log {
  return {
    address,
    topics: [TRANSFER_TOPIC, topicOf(from), topicOf(to)],
    data: bigintToFixedBytes(value, 32),
  };
}

function topicOf(address: Address): Hash {
  return `0x${address.slice(2).padStart(64, "0")}` as Hash;
}
