import { addressToBytes } from "../primitives/address.ts";
import { bigintToBytes, concatBytes, EMPTY_BYTES } from "../primitives/bytes.ts";
import { hashToBytes } from "../primitives/hash.ts";
import { writeHex } from "../primitives/hex.ts";
import {
  encodedLength,
  encodeRlp,
  type RlpItem,
  rlpListLength,
  writeRlp,
  writeRlpListPrefix,
} from "../primitives/rlp.ts";
import { allocateShared } from "../primitives/slab.ts";
import { EMPTY_BLOOM } from "./bloom.ts";
import type { Log, Receipt } from "./receipt.ts";

/** A receipt's consensus fields; the rest follows from its block. */
type ConsensusReceipt = Pick<Receipt, "type" | "status" | "postState" | "cumulativeGasUsed" | "logsBloom" | "logs">;

/**
 * The consensus form of a receipt (EIP-2718, EIP-658): `type ‖ rlp([status or postState, cumulativeGasUsed, logsBloom, logs])`, without the type
 * byte for type 0. It is the value under its index in the receipts trie.
 */
export function encodeReceipt(receipt: ConsensusReceipt): Uint8Array {
  const isPlain = receipt.postState === undefined && receipt.logs.length === 0;
  return isPlain ? encodePlainReceipt(receipt) : encodeAnyReceipt(receipt);
}

/** RLP of an empty bloom and an empty list of logs: most of a receipt without logs. */
const NO_LOGS = concatBytes(encodeRlp(EMPTY_BLOOM), encodeRlp([]));

/** `encodeReceipt` of a receipt with a status and without logs, which needs no tree of items. */
function encodePlainReceipt({ type, status, cumulativeGasUsed }: ConsensusReceipt): Uint8Array {
  const gasUsed = encodeRlp(bigintToBytes(cumulativeGasUsed));
  const payload = 1 + gasUsed.length + NO_LOGS.length;
  const typeLength = type === 0 ? 0 : 1;
  const bytes = allocateShared(typeLength + rlpListLength(payload));
  bytes[0] = type;
  const start = writeRlpListPrefix(payload, bytes, typeLength);
  bytes[start] = status === 1 ? 0x01 : 0x80;
  bytes.set(gasUsed, start + 1);
  bytes.set(NO_LOGS, start + 1 + gasUsed.length);
  return bytes;
}

/** `encodeReceipt` that writes logs directly into the result. */
function encodeAnyReceipt(receipt: ConsensusReceipt): Uint8Array {
  const { type, status, postState, cumulativeGasUsed, logsBloom, logs } = receipt;
  const gasUsed = encodeRlp(bigintToBytes(cumulativeGasUsed));
  let logsPayload = 0;
  for (const log of logs) logsPayload += rlpListLength(logPayloadLength(log));
  const outcomeLength = postState === undefined ? 1 : 33;
  const payload = outcomeLength + gasUsed.length + encodedLength(logsBloom) + rlpListLength(logsPayload);
  const typeLength = type === 0 ? 0 : 1;
  const bytes = allocateShared(typeLength + rlpListLength(payload));
  bytes[0] = type;
  let at = writeRlpListPrefix(payload, bytes, typeLength);
  if (postState === undefined) bytes[at++] = status === 1 ? 0x01 : 0x80;
  else at = writeRlp(hashToBytes(postState), bytes, at);
  bytes.set(gasUsed, at);
  at = writeRlp(logsBloom, bytes, at + gasUsed.length);
  at = writeRlpListPrefix(logsPayload, bytes, at);
  for (const log of logs) at = writeLog(log, bytes, at);
  return bytes;
}

const [ADDRESS_LENGTH, TOPIC_LENGTH] = [21, 33];

function logPayloadLength({ topics, data }: Log): number {
  return ADDRESS_LENGTH + rlpListLength(topics.length * TOPIC_LENGTH) + encodedLength(data);
}

function writeLog(log: Log, out: Uint8Array, offset: number): number {
  const { address, topics, data } = log;
  let at = writeRlpListPrefix(logPayloadLength(log), out, offset);
  out[at] = 0x80 + ADDRESS_LENGTH - 1;
  at = writeHex(address, out, at + 1);
  at = writeRlpListPrefix(topics.length * TOPIC_LENGTH, out, at);
  for (const topic of topics) {
    out[at] = 0x80 + TOPIC_LENGTH - 1;
    at = writeHex(topic, out, at + 1);
  }
  return writeRlp(data, out, at);
}

/** The items of a receipt in geth's append-only files, in a list: without bloom and type, which follow from the rest of the block. */
export function storedReceiptItem(receipt: ConsensusReceipt): RlpItem {
  return [outcomeBytes(receipt), bigintToBytes(receipt.cumulativeGasUsed), receipt.logs.map(logItem)];
}

function outcomeBytes({ status, postState }: ConsensusReceipt): Uint8Array {
  if (postState !== undefined) return hashToBytes(postState);
  return status === 1 ? Uint8Array.of(1) : EMPTY_BYTES;
}

function logItem({ address, topics, data }: Log): RlpItem {
  return [addressToBytes(address), topics.map(hashToBytes), data];
}
