import { addressToBytes } from "../primitives/address.ts";
import { bigintToBytes, concatBytes, EMPTY_BYTES } from "../primitives/bytes.ts";
import { hashFromBytes, hashToBytes } from "../primitives/hash.ts";
import { decodeRlp, encodeRlp, type RlpItem } from "../primitives/rlp.ts";
import { BLOOM_LENGTH } from "./bloom.ts";
import type { Log, Receipt } from "./receipt.ts";
import { StructReader } from "./rlp-struct.ts";
import {
  TransactionTooShortError,
  TransactionTypeNotSupportedError,
} from "./transaction/errors.ts";

/** What consensus holds of a receipt; the rest follows from the block around it. */
export type ConsensusReceipt = Pick<
  Receipt,
  "type" | "status" | "postState" | "cumulativeGasUsed" | "logsBloom" | "logs"
>;

const NAME = "types.receiptRLP";

/**
 * The consensus form of a receipt (EIP-2718, EIP-658): `type ‖ rlp([status or postState, cumulativeGasUsed, logsBloom, logs])`,
 * without the type byte for type 0. The value under its index in the receipts trie.
 */
export function encodeReceipt(receipt: ConsensusReceipt): Uint8Array {
  const body = encodeRlp([
    outcomeBytes(receipt),
    bigintToBytes(receipt.cumulativeGasUsed),
    receipt.logsBloom,
    receipt.logs.map(logItem),
  ]);
  return receipt.type === 0 ? body : concatBytes(Uint8Array.of(receipt.type), body);
}

/**
 * The receipt whose consensus form `bytes` are. Byte strings are views of `bytes`.
 * @throws InvalidRlpError, InvalidEncodingError, TransactionTooShortError, TransactionTypeNotSupportedError
 */
export function decodeReceipt(bytes: Uint8Array): ConsensusReceipt {
  const first = bytes[0];
  const isLegacy = first !== undefined && first >= 0xc0;
  if (!isLegacy && bytes.length < 2) throw new TransactionTooShortError();
  if (!isLegacy && (first === undefined || first === 0 || first > 4)) {
    throw new TransactionTypeNotSupportedError(first ?? 0);
  }
  const reader = new StructReader(decodeRlp(isLegacy ? bytes : bytes.subarray(1)), NAME);
  const receipt = {
    type: (isLegacy ? 0 : first) as Receipt["type"],
    ...readOutcome(reader),
    cumulativeGasUsed: reader.uint("CumulativeGasUsed", 64),
    logsBloom: reader.fixedBytes("Bloom", BLOOM_LENGTH, "types.Bloom"),
    logs: reader.structs("Logs", "types.Log", readLog),
  };
  reader.end();
  return receipt;
}

function outcomeBytes({ status, postState }: ConsensusReceipt): Uint8Array {
  if (postState !== undefined) return hashToBytes(postState);
  return status === 1 ? Uint8Array.of(1) : EMPTY_BYTES;
}

function readOutcome(reader: StructReader): Pick<Receipt, "status" | "postState"> {
  const bytes = reader.bytes("PostStateOrStatus");
  if (bytes.length === 0) return { status: 0 };
  if (bytes.length === 1 && bytes[0] === 1) return { status: 1 };
  if (bytes.length === 32) return { postState: hashFromBytes(bytes) };
  const code = bytes.length > 32 ? "RLP_STRING_TOO_LONG" : "RLP_STRING_TOO_SHORT";
  throw reader.fault(code, "common.Hash", "PostStateOrStatus");
}

function logItem({ address, topics, data }: Log): RlpItem {
  return [addressToBytes(address), topics.map(hashToBytes), data];
}

function readLog(reader: StructReader): Log {
  const log = {
    address: reader.address("Address"),
    topics: reader.hashes("Topics"),
    data: reader.bytes("Data"),
  };
  reader.end();
  return log;
}
