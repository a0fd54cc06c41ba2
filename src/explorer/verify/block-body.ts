import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { encodeRlp } from "../../primitives/rlp.ts";
import { orderedTrieRoot } from "../../trie/ordered-trie-root.ts";
import type { Withdrawal } from "../../types/block.ts";
import { blockSize, withdrawalItem } from "../../types/block-codec.ts";
import { EMPTY_UNCLES_HASH } from "../../types/constants.ts";
import type { Header } from "../../types/header.ts";
import { decodeTransaction } from "../../types/transaction/decode.ts";
import { impersonatedSender } from "../../types/transaction/impersonation.ts";
import { recoverSender } from "../../types/transaction/sender.ts";
import type { Transaction } from "../../types/transaction/transaction.ts";
import { addressOf, bigintOf, type Json, listOf, objectOf } from "./json.ts";

/** A line of the list of a block's transactions, from its canonical bytes alone. */
export type TransactionRow = {
  readonly hash: Hash;
  /** recovered from the signature */
  readonly from: Address;
  readonly to: Address | null;
  /** wei */
  readonly value: bigint;
};

/** @throws InvalidEncodingError, and what recovering the sender throws */
export function transactionRow(raw: Uint8Array): TransactionRow {
  const tx = decodeTransaction(raw);
  return {
    hash: keccak256Hash(raw),
    from: impersonatedSender(tx) ?? recoverSender(tx),
    to: tx.to,
    value: tx.value,
  };
}

/**
 * Bytes of a block's RLP; undefined where it has uncles, or withdrawals that its header does not commit to: the node did not give
 * what is needed.
 * @param raws transactions, which `header` commits to
 * @throws InvalidEncodingError, InvalidHexError
 */
export function provenSize(block: Json, header: Header, raws: readonly Uint8Array[]) {
  if (header.sha3Uncles !== EMPTY_UNCLES_HASH) return undefined;
  const transactions: readonly Transaction[] = raws.map((raw) => decodeTransaction(raw));
  const parts = { header, transactions, uncles: [] };
  if (header.withdrawalsRoot === undefined) return blockSize(parts);
  const withdrawals = listOf(block["withdrawals"] ?? []).map(withdrawalOf);
  const root = orderedTrieRoot(withdrawals.map((each) => encodeRlp(withdrawalItem(each))));
  return root === header.withdrawalsRoot ? blockSize({ ...parts, withdrawals }) : undefined;
}

/** @throws InvalidHexError */
function withdrawalOf(value: unknown): Withdrawal {
  const { index, validatorIndex, address, amount } = objectOf(value);
  return {
    index: bigintOf(index),
    validatorIndex: bigintOf(validatorIndex),
    address: addressOf(address),
    amount: bigintOf(amount),
  };
}

/** Gas of each transaction: the root of the receipts covers what it and those before it used together. @throws InvalidHexError */
export function gasUsedByEach(receipts: readonly Json[]): readonly bigint[] {
  let before = 0n;
  return receipts.map((receipt) => {
    const together = bigintOf(receipt["cumulativeGasUsed"]);
    const own = together - before;
    before = together;
    return own;
  });
}
