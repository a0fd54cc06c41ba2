import { addressToBytes } from "../primitives/address.ts";
import { bigintToBytes } from "../primitives/bytes.ts";
import { keccak256Hash } from "../primitives/keccak.ts";
import {
  decodeRlpAt,
  encodedLength,
  encodeRlp,
  encodeRlpListOf,
  InvalidRlpError,
  type RlpItem,
  rlpItemEnd,
  rlpListBounds,
  rlpListLength,
} from "../primitives/rlp.ts";
import type { Block, Withdrawal } from "./block.ts";
import { decodeHeader, encodeHeader, readHeader } from "./header-codec.ts";
import { InvalidEncodingError, StructReader } from "./rlp-struct.ts";
import { decodeTransaction } from "./transaction/decode.ts";
import type { Transaction } from "./transaction/transaction.ts";

/**
 * A block on the wire (Yellow Paper 4.4.3; EIP-2718, 4895):
 *
 *     [header, [transaction, …], [uncle header, …]]                  before Shanghai
 *     [header, [transaction, …], [uncle header, …], [withdrawal, …]] from Shanghai
 *
 * A legacy transaction is a list, a typed one is a string with its EIP-2718 form.
 */
export type BlockParts = Omit<Block, "hash">;

export function encodeBlock({ header, transactions, uncles, withdrawals }: BlockParts): Uint8Array {
  const parts = [
    encodeHeader(header),
    encodeRlpListOf(transactions.map(encodeTransactionItem)),
    encodeRlpListOf(uncles.map(encodeHeader)),
  ];
  if (withdrawals) parts.push(encodeRlp(withdrawals.map(withdrawalItem)));
  return encodeRlpListOf(parts);
}

/** Bytes of the block's RLP: the `size` of its JSON, and what EIP-7934 limits. */
export function blockSize({ header, transactions, uncles, withdrawals }: BlockParts): number {
  let payload = 0;
  for (const tx of transactions) payload += tx.type === 0 ? tx.raw.length : encodedLength(tx.raw);
  let size = encodeHeader(header).length + rlpListLength(payload);
  size += encodeRlpListOf(uncles.map(encodeHeader)).length;
  if (withdrawals) size += encodedLength(withdrawals.map(withdrawalItem));
  return rlpListLength(size);
}

/**
 * Decodes a block's RLP. Byte strings are views of `bytes`.
 * @throws InvalidRlpError, InvalidEncodingError, and errors of decodeTransaction
 */
export function decodeBlock(bytes: Uint8Array): Block {
  const { block, end } = decodeBlockAt(bytes, 0);
  if (end !== bytes.length) throw new InvalidRlpError("rlp: input contains more than one value");
  return block;
}

/**
 * Decodes the block at `offset`, and returns the offset of the next one: chain files are concatenated blocks.
 * @throws as decodeBlock
 */
export function decodeBlockAt(bytes: Uint8Array, offset: number): { block: Block; end: number } {
  const { start, end } = rlpListBounds(bytes, offset);
  const content = bytes.subarray(start, end);
  const headerEnd = itemEnd(content, 0);
  const transactionsEnd = itemEnd(content, headerEnd);
  const unclesEnd = itemEnd(content, transactionsEnd);

  const headerBytes = content.subarray(0, headerEnd);
  const header = decodeHeader(headerBytes);
  const transactions = readTransactions(content.subarray(headerEnd, transactionsEnd));
  const uncles = new StructReader(content.subarray(transactionsEnd, unclesEnd), "types.extblock").structs(
    "Uncles",
    "types.Header",
    readHeader,
  );
  const block: Block = { hash: keccak256Hash(headerBytes), header, transactions, uncles };
  if (unclesEnd === content.length) return { block, end };

  const rest = new StructReader(content.subarray(unclesEnd), "types.extblock");
  const withdrawals = rest.structs("Withdrawals", "types.Withdrawal", readWithdrawal);
  rest.end();
  return { block: { ...block, withdrawals }, end };
}

/**
 * Header and hash in a block's RLP; does not decode the rest.
 * @throws InvalidRlpError, InvalidEncodingError
 */
export function readBlockHeader(bytes: Uint8Array): Pick<Block, "hash" | "header"> {
  const { start, end } = rlpListBounds(bytes, 0);
  const content = bytes.subarray(start, end);
  const headerBytes = content.subarray(0, itemEnd(content, 0));
  return { hash: keccak256Hash(headerBytes), header: decodeHeader(headerBytes) };
}

/**
 * The undecoded transactions in a block's RLP, each in canonical form and a view of `bytes`.
 * @throws InvalidRlpError, InvalidEncodingError
 */
export function readCanonicalTransactions(bytes: Uint8Array): Uint8Array[] {
  const { start, end } = rlpListBounds(bytes, 0);
  const content = bytes.subarray(start, end);
  const headerEnd = itemEnd(content, 0);
  return Array.from(canonicalTransactions(content.subarray(headerEnd, itemEnd(content, headerEnd))));
}

function itemEnd(content: Uint8Array, offset: number): number {
  if (offset === content.length) {
    throw new InvalidEncodingError("RLP_TOO_FEW_ELEMENTS", "types.extblock", "");
  }
  return rlpItemEnd(content, offset);
}

function readTransactions(list: Uint8Array): readonly Transaction[] {
  const transactions: Transaction[] = [];
  for (const raw of canonicalTransactions(list)) transactions.push(decodeTransaction(raw));
  return transactions;
}

/** Walks the list without decoding it as a whole, so that each transaction's own bytes are available. */
function* canonicalTransactions(list: Uint8Array): Generator<Uint8Array> {
  const { start, end } = rlpListBounds(list, 0);
  for (let at = start; at < end; ) {
    const isLegacy = list[at]! >= 0xc0;
    const next = rlpItemEnd(list, at);
    const raw = isLegacy ? list.subarray(at, next) : (decodeRlpAt(list, at).item as Uint8Array);
    if (!isLegacy && raw[0] !== undefined && raw[0] >= 0xc0) {
      // A legacy transaction wrapped in a string is not canonical.
      throw new InvalidEncodingError("RLP_EXPECTED_LIST", "types.LegacyTx", "");
    }
    yield raw;
    at = next;
  }
}

/** The `raw` of a legacy transaction is RLP already; that of a typed one becomes a string. */
function encodeTransactionItem(tx: Transaction): Uint8Array {
  return tx.type === 0 ? tx.raw : encodeRlp(tx.raw);
}

/** RLP of a withdrawal (EIP-4895): the value under its index in the withdrawals trie. */
export function encodeWithdrawal(withdrawal: Withdrawal): Uint8Array {
  return encodeRlp(withdrawalItem(withdrawal));
}

export function withdrawalItem({ index, validatorIndex, address, amount }: Withdrawal): RlpItem {
  return [bigintToBytes(index), bigintToBytes(validatorIndex), addressToBytes(address), bigintToBytes(amount)];
}

function readWithdrawal(reader: StructReader): Withdrawal {
  return {
    index: reader.uint("Index", 64),
    validatorIndex: reader.uint("Validator", 64),
    address: reader.address("Address"),
    amount: reader.uint("Amount", 64),
  };
}
