import { NodeError } from "../../errors.ts";
import type { Address } from "../../primitives/address.ts";
import { equalBytes } from "../../primitives/bytes.ts";
import type { Hash } from "../../primitives/hash.ts";
import { hexDigits } from "../../primitives/hex.ts";
import { orderedTrieRoot } from "../../trie/ordered-trie-root.ts";
import type { Block } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import { encodeReceipt } from "../../types/receipt-codec.ts";
import { recoverSenders } from "../../types/transaction/sender.ts";
import { InvalidBlockError } from "../errors.ts";
import {
  type BlockExecution,
  type BlockOutcome,
  type BlockParent,
  beginBlock,
  type ExecutionModules,
  type SystemUpdate,
} from "./block-execution.ts";

/**
 * Executes `block` after `parent` and compares the outcome with its header. Header and body must have been validated.
 * @param known.senders of the first transactions, in order; the others are recovered together
 * @throws InvalidBlockError
 */
export function executeBlock(
  block: Block,
  parent: BlockParent,
  modules: ExecutionModules,
  known: { readonly senders?: readonly Address[]; readonly systemUpdate?: SystemUpdate } = {},
): BlockOutcome {
  const { senders: first = [], systemUpdate } = known;
  const execution = beginBlock(block.header, parent, modules);
  const others = block.transactions.slice(first.length);
  const senders = [...first, ...recoverSenders(others, execution.context.hardfork)];
  block.transactions.forEach((_, index) => {
    addTransaction(execution, block, index, senders[index]);
  });
  const { withdrawals, uncles } = block;
  const outcome = execution.finish({
    ...(withdrawals && { withdrawals }),
    ...(systemUpdate && { systemUpdate }),
    uncles,
  });
  checkOutcome(block.header, outcome);
  return outcome;
}

function addTransaction(
  execution: BlockExecution,
  { transactions }: Block,
  index: number,
  sender: Address | undefined,
): void {
  const tx = transactions[index]!;
  try {
    execution.addTransaction(tx, sender);
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    throw new InvalidBlockError(
      "BLOCK_INVALID_TRANSACTION",
      `could not apply tx ${index} [${tx.hash}]: ${error.message}`,
      { index, hash: tx.hash, reason: error.code },
      { cause: error },
    );
  }
}

/** Compares the header with the outcome. */
function checkOutcome(header: Header, outcome: BlockOutcome): void {
  if (header.gasUsed !== outcome.gasUsed) {
    throw new InvalidBlockError(
      "BLOCK_INVALID_GAS_USED",
      `invalid gas used (remote: ${header.gasUsed} local: ${outcome.gasUsed})`,
    );
  }
  if (!equalBytes(header.logsBloom, outcome.logsBloom)) {
    throw new InvalidBlockError(
      "BLOCK_INVALID_LOG_BLOOM",
      `invalid bloom (remote: ${hexDigits(header.logsBloom)}  local: ${hexDigits(outcome.logsBloom)})`,
    );
  }
  const receiptsRoot = orderedTrieRoot(outcome.receipts.map(encodeReceipt));
  if (header.receiptsRoot !== receiptsRoot) {
    throw new InvalidBlockError(
      "BLOCK_INVALID_RECEIPTS_ROOT",
      `invalid receipt root hash ${mismatch(header.receiptsRoot, receiptsRoot)}`,
    );
  }
  if (outcome.requestsHash !== undefined && header.requestsHash !== outcome.requestsHash) {
    throw new InvalidBlockError(
      "BLOCK_INVALID_REQUESTS",
      `invalid requests hash ${mismatch(header.requestsHash, outcome.requestsHash)}`,
    );
  }
  if (header.stateRoot !== outcome.trie.root) {
    throw new InvalidBlockError(
      "BLOCK_INVALID_STATE_ROOT",
      `invalid merkle root ${mismatch(header.stateRoot, outcome.trie.root)}`,
    );
  }
}

function mismatch(remote: Hash | undefined, local: Hash): string {
  return `(remote: ${remote?.slice(2)} local: ${local.slice(2)})`;
}
