import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { BLOCK_RLP_SIZE_MAX } from "../../../base/params/gas.ts";
import { type Hardfork, hardforkAt, isPostMerge, RULES_AT } from "../../../base/params/hardforks.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import { encodeRlpListOf } from "../../../base/primitives/rlp.ts";
import type { Block } from "../../../base/types/block.ts";
import { blockSize, encodeWithdrawal } from "../../../base/types/block-codec.ts";
import { encodeHeader } from "../../../base/types/header-codec.ts";
import { blobGasOf } from "../../../base/types/transaction/fees.ts";
import { orderedTrieRoot } from "../../../store/trie/ordered-trie-root.ts";
import { type InvalidBlockCode, InvalidBlockError, InvalidTransactionError, rejectBlock } from "../errors.ts";
import { checkMinimumTip } from "../transaction/validate-message.ts";
import { type AncestorLookup, validateUncles } from "./validate-header.ts";

/**
 * Checks size, uncles, roots and blob gas of a body against its header.
 * @param ancestor needed for uncles, so only for proof-of-work blocks
 * @throws InvalidBlockError
 */
export function validateBody(block: Block, config: ChainConfig, ancestor: AncestorLookup): void {
  const { header, transactions, uncles, withdrawals } = block;
  validateBlockSize(block, hardforkAt(config, block.header));
  if (isPostMerge(config, header)) {
    if (uncles.length > 0) {
      rejectBlock("BLOCK_IMPORT_IMPOSSIBLE_UNCLES_OVER_PARIS", "uncles not allowed");
    }
  } else validateUncles(block, config, ancestor);
  const unclesHash = keccak256Hash(encodeRlpListOf(uncles.map(encodeHeader)));
  checkRoot("BLOCK_INVALID_UNCLES_HASH", "uncle root hash", header.sha3Uncles, unclesHash);
  const transactionsRoot = orderedTrieRoot(transactions.map(({ raw }) => raw));
  checkRoot("BLOCK_INVALID_TRANSACTIONS_ROOT", "transaction root hash", header.transactionsRoot, transactionsRoot);
  if (header.withdrawalsRoot === undefined) {
    if (withdrawals) {
      rejectBlock("BLOCK_INCORRECT_BLOCK_FORMAT", "withdrawals present in block body");
    }
  } else {
    if (!withdrawals) rejectBlock("BLOCK_INCORRECT_BLOCK_FORMAT", "missing withdrawals in block body");
    const root = orderedTrieRoot(withdrawals.map(encodeWithdrawal));
    checkRoot("BLOCK_INVALID_WITHDRAWALS_ROOT", "withdrawals root hash", header.withdrawalsRoot, root);
  }
  checkBlobGasUsed(block);
  checkTips(block, config);
}

/**
 * EIP-7934, from Osaka.
 * @throws InvalidBlockError
 */
export function validateBlockSize(block: Block, hardfork: Hardfork): void {
  if (RULES_AT[hardfork].osaka && !isSmall(block) && blockSize(block) > BLOCK_RLP_SIZE_MAX) {
    rejectBlock("BLOCK_RLP_BLOCK_LIMIT_EXCEEDED", "block RLP-encoded size exceeds maximum");
  }
}

/** Length of a header without its extra data, of a withdrawal, and of the prefix of a list: no less than any of them has. */
const [HEADER_BYTES, WITHDRAWAL_BYTES, PREFIX_BYTES] = [1_024, 64, 9];

/** True where a sum of upper bounds is within the limit: for nearly all blocks their exact size need not be computed. */
function isSmall({ header, transactions, uncles, withdrawals = [] }: Block): boolean {
  let bytes = 4 * PREFIX_BYTES + withdrawals.length * WITHDRAWAL_BYTES;
  for (const { extraData } of [header, ...uncles]) bytes += HEADER_BYTES + extraData.length;
  for (const { raw } of transactions) bytes += raw.length + PREFIX_BYTES;
  return bytes <= BLOCK_RLP_SIZE_MAX;
}

function checkTips({ header, transactions }: Block, config: ChainConfig): void {
  for (const tx of transactions) {
    try {
      checkMinimumTip(tx, header.baseFeePerGas ?? 0n, config);
    } catch (error) {
      if (!(error instanceof InvalidTransactionError)) throw error;
      const { message, code: reason } = error;
      throw new InvalidBlockError("BLOCK_INVALID_TRANSACTION", message, { hash: tx.hash, reason }, { cause: error });
    }
  }
}

function checkBlobGasUsed({ header, transactions }: Block): void {
  const blobGas = transactions.reduce((sum, tx) => sum + blobGasOf(tx), 0n);
  if (header.blobGasUsed === undefined) {
    if (blobGas > 0n) rejectBlock("BLOCK_INCORRECT_BLOB_GAS_USED", "data blobs present in block body");
    return;
  }
  if (blobGas !== header.blobGasUsed) {
    rejectBlock(
      "BLOCK_INCORRECT_BLOB_GAS_USED",
      `blob gas used mismatch (header ${header.blobGasUsed}, calculated ${blobGas})`,
    );
  }
}

function checkRoot(code: InvalidBlockCode, name: string, have: Hash, calculated: Hash): void {
  if (have === calculated) return;
  const digits = (hash: Hash) => hash.slice(2);
  rejectBlock(code, `${name} mismatch (header value ${digits(have)}, calculated ${digits(calculated)})`);
}
