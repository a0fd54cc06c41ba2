import { addressToBytes } from "../primitives/address.ts";
import { bigintToBytes, EMPTY_BYTES } from "../primitives/bytes.ts";
import { hashToBytes } from "../primitives/hash.ts";
import { encodeTypedRlp, type RlpItem } from "../primitives/rlp.ts";
import type { Log, Receipt } from "./receipt.ts";

/** What consensus holds of a receipt; the rest follows from the block around it. */
type ConsensusReceipt = Pick<
  Receipt,
  "type" | "status" | "postState" | "cumulativeGasUsed" | "logsBloom" | "logs"
>;

/**
 * The consensus form of a receipt (EIP-2718, EIP-658): `type ‖ rlp([status or postState, cumulativeGasUsed, logsBloom, logs])`,
 * without the type byte for type 0. The value under its index in the receipts trie.
 */
export function encodeReceipt(receipt: ConsensusReceipt): Uint8Array {
  return encodeTypedRlp(receipt.type, [
    outcomeBytes(receipt),
    bigintToBytes(receipt.cumulativeGasUsed),
    receipt.logsBloom,
    receipt.logs.map(logItem),
  ]);
}

/** The items of a receipt that geth's append-only files hold, in a list: no bloom and no type, which follow from the rest of the block. */
export function storedReceiptItem(receipt: ConsensusReceipt): RlpItem {
  return [
    outcomeBytes(receipt),
    bigintToBytes(receipt.cumulativeGasUsed),
    receipt.logs.map(logItem),
  ];
}

function outcomeBytes({ status, postState }: ConsensusReceipt): Uint8Array {
  if (postState !== undefined) return hashToBytes(postState);
  return status === 1 ? Uint8Array.of(1) : EMPTY_BYTES;
}

function logItem({ address, topics, data }: Log): RlpItem {
  return [addressToBytes(address), topics.map(hashToBytes), data];
}
