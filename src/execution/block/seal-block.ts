import { orderedTrieRoot } from "../../trie/ordered-trie-root.ts";
import type { ExecutedBlock, Withdrawal } from "../../types/block.ts";
import { encodeWithdrawal } from "../../types/block-codec.ts";
import { EMPTY_UNCLES_HASH } from "../../types/constants.ts";
import type { Header } from "../../types/header.ts";
import { headerHash } from "../../types/header-codec.ts";
import { encodeReceipt } from "../../types/receipt-codec.ts";
import type { Transaction } from "../../types/transaction/transaction.ts";
import type { BlockOutcome, OpenHeader } from "./block-execution.ts";

/** Content of a block besides its open header and its outcome. */
export type BlockContent = {
  readonly transactions: readonly Transaction[];
  /** at most 32 bytes */
  readonly extraData: Uint8Array;
  /** Present from Shanghai. */
  readonly withdrawals?: readonly Withdrawal[];
};

/** The finished block, with the header fields of body and execution filled in. */
export function sealBlock(
  header: OpenHeader,
  { transactions, extraData, withdrawals }: BlockContent,
  { receipts, senders, gasUsed, blobGasUsed, logsBloom, requestsHash, trie }: BlockOutcome,
): ExecutedBlock {
  const sealed: Header = {
    ...header,
    sha3Uncles: EMPTY_UNCLES_HASH,
    stateRoot: trie.root,
    transactionsRoot: orderedTrieRoot(transactions.map(({ raw }) => raw)),
    receiptsRoot: orderedTrieRoot(receipts.map(encodeReceipt)),
    logsBloom,
    gasUsed,
    extraData,
    nonce: new Uint8Array(8),
    ...(withdrawals && { withdrawalsRoot: orderedTrieRoot(withdrawals.map(encodeWithdrawal)) }),
    // Excess blob gas is in every header from Cancun.
    ...(header.excessBlobGas !== undefined && { blobGasUsed }),
    ...(requestsHash && { requestsHash }),
  };
  const block = {
    hash: headerHash(sealed),
    header: sealed,
    transactions,
    uncles: [],
    ...(withdrawals && { withdrawals }),
  };
  return { block, senders, receipts };
}
