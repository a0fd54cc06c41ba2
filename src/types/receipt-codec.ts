import { addressToBytes } from "../primitives/address.ts";
import { bigintToBytes, concatBytes, EMPTY_BYTES } from "../primitives/bytes.ts";
import { hashToBytes } from "../primitives/hash.ts";
import {
  encodeRlp,
  encodeTypedRlp,
  type RlpItem,
  rlpListLength,
  writeRlpListPrefix,
} from "../primitives/rlp.ts";
import { EMPTY_BLOOM } from "./bloom.ts";
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
  if (receipt.logs.length === 0 && receipt.postState === undefined) {
    return encodePlainReceipt(receipt);
  }
  return encodeTypedRlp(receipt.type, [
    outcomeBytes(receipt),
    bigintToBytes(receipt.cumulativeGasUsed),
    receipt.logsBloom,
    receipt.logs.map(logItem),
  ]);
}

/** RLP of the bloom of no logs and of no logs: most of a receipt that has none. */
const NO_LOGS = concatBytes(encodeRlp(EMPTY_BLOOM), encodeRlp([]));

/** As `encodeReceipt`, of a receipt with a status and without logs, which needs no tree of items. */
function encodePlainReceipt({ type, status, cumulativeGasUsed }: ConsensusReceipt): Uint8Array {
  const gasUsed = encodeRlp(bigintToBytes(cumulativeGasUsed));
  const payload = 1 + gasUsed.length + NO_LOGS.length;
  const typeLength = type === 0 ? 0 : 1;
  const bytes = new Uint8Array(typeLength + rlpListLength(payload));
  bytes[0] = type;
  const start = writeRlpListPrefix(payload, bytes, typeLength);
  bytes[start] = status === 1 ? 0x01 : 0x80;
  bytes.set(gasUsed, start + 1);
  bytes.set(NO_LOGS, start + 1 + gasUsed.length);
  return bytes;
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
