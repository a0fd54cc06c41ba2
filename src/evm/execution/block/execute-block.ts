import { NodeError } from "../../../base/errors.ts";
import { blobParamsAt } from "../../../base/params/blob-schedule.ts";
import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { blobBaseFee } from "../../../base/params/fees.ts";
import { hardforkAt } from "../../../base/params/hardforks.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { equalBytes } from "../../../base/primitives/bytes.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { hexDigits } from "../../../base/primitives/hex.ts";
import type { Block, ExecutedBlock } from "../../../base/types/block.ts";
import { type BlockAccessList, decodeBlockAccessList, firstDifference } from "../../../base/types/block-access-list.ts";
import { logsBloom } from "../../../base/types/bloom.ts";
import type { Header } from "../../../base/types/header.ts";
import { headerHash } from "../../../base/types/header-codec.ts";
import type { Receipt } from "../../../base/types/receipt.ts";
import { encodeReceipt } from "../../../base/types/receipt-codec.ts";
import { blobGasOf, effectiveGasPrice } from "../../../base/types/transaction/fees.ts";
import { recoverSender, recoverSenders } from "../../../base/types/transaction/sender.ts";
import { orderedTrieRoot } from "../../../store/trie/ordered-trie-root.ts";
import { createAddress } from "../../machine/contract-creation.ts";
import { InvalidBlockError } from "../errors.ts";
import { validateBody } from "../validation/validate-body.ts";
import { accessListItems, accessListItemsMax } from "./access-list-builder.ts";
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
 * @param known.accessList RLP of the list that comes with the block, to be held against what it looks at and changes
 * @throws InvalidBlockError, InvalidRlpError, InvalidBlockAccessListError
 */
export function executeBlock(
  block: Block,
  parent: BlockParent,
  modules: ExecutionModules,
  known: {
    readonly senders?: readonly Address[];
    readonly systemUpdate?: SystemUpdate;
    readonly accessList?: Uint8Array | undefined;
  } = {},
): BlockOutcome {
  const { senders: first = [], systemUpdate, accessList } = known;
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
  if (accessList !== undefined) checkAccessList(accessList, outcome);
  checkOutcome(block.header, outcome);
  return outcome;
}

/** Says where a list that came with a block is wrong; a hash says only that it is. */
function checkAccessList(given: Uint8Array, { accessList, encodedAccessList }: BlockOutcome): void {
  if (accessList === undefined || encodedAccessList === undefined) {
    throw new InvalidBlockError("BLOCK_INVALID_BLOCK_ACCESS_LIST", "block had access list before Amsterdam");
  }
  if (equalBytes(given, encodedAccessList)) return;
  const difference = firstDifference(accessList, decodeBlockAccessList(given));
  throw new InvalidBlockError(
    "BLOCK_INVALID_BLOCK_ACCESS_LIST",
    `the access list is not that of the block: ${difference}`,
    { difference },
  );
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
  const { blockAccessListHash: accessListHash } = outcome;
  if (accessListHash !== undefined && header.blockAccessListHash !== accessListHash) {
    throw new InvalidBlockError(
      "BLOCK_INVALID_BLOCK_ACCESS_LIST",
      `access list hash mismatch ${mismatch(header.blockAccessListHash, accessListHash)}`,
    );
  }
  checkAccessListSize(header, outcome.accessList);
  if (header.stateRoot !== outcome.trie.root) {
    throw new InvalidBlockError(
      "BLOCK_INVALID_STATE_ROOT",
      `invalid merkle root ${mismatch(header.stateRoot, outcome.trie.root)}`,
    );
  }
}

/** EIP-7928: a block with a low gas limit cannot have a long list. */
export function checkAccessListSize({ gasLimit }: Pick<Header, "gasLimit">, list: BlockAccessList | undefined): void {
  if (list === undefined || accessListItems(list) <= accessListItemsMax(gasLimit)) return;
  throw new InvalidBlockError(
    "BLOCK_INVALID_BLOCK_ACCESS_LIST",
    "invalid block access list: block access list exceeds size constraint",
  );
}

function mismatch(remote: Hash | undefined, local: Hash): string {
  return `(remote: ${remote?.slice(2)} local: ${local.slice(2)})`;
}

/**
 * A block and its receipts that somebody sent, with every field that its header does not commit to computed anew: hash, senders, and what
 * receipts have besides status, gas and logs. Nothing is executed.
 * @throws InvalidBlockError, and what `recoverSender` throws
 */
export function verifyReceivedBlock(
  { header, transactions, uncles, withdrawals }: Block,
  received: readonly Receipt[],
  config: ChainConfig,
): ExecutedBlock {
  const block: Block = {
    header,
    transactions,
    uncles,
    hash: headerHash(header),
    ...(withdrawals && { withdrawals }),
  };
  // Blocks with uncles are of proof of work, and no engine of ours made them.
  validateBody(block, config, () => undefined);
  const hardfork = hardforkAt(config, header);
  const senders = recoverSenders(transactions, hardfork);
  const unsigned = transactions[senders.length];
  if (unsigned) recoverSender(unsigned, hardfork);
  if (received.length !== transactions.length) throw wrongReceipts();
  const blobParams = blobParamsAt(config, header.timestamp);
  const blobGasPrice =
    blobParams && header.excessBlobGas !== undefined ? blobBaseFee(header.excessBlobGas, blobParams) : 0n;
  const receipts = received.map((receipt, index): Receipt => {
    const { status, postState, cumulativeGasUsed, logs } = receipt;
    const tx = transactions[index]!;
    const before = index === 0 ? 0n : received[index - 1]!.cumulativeGasUsed;
    return {
      type: tx.type,
      ...(status !== undefined && { status }),
      ...(postState !== undefined && { postState }),
      cumulativeGasUsed,
      gasUsed: cumulativeGasUsed - before,
      logsBloom: logsBloom(logs),
      logs,
      contractAddress: tx.to === null ? createAddress(senders[index]!, tx.nonce) : null,
      effectiveGasPrice: effectiveGasPrice(tx, header.baseFeePerGas ?? 0n),
      ...(tx.type === 3 && { blobGasUsed: blobGasOf(tx), blobGasPrice }),
    };
  });
  if (orderedTrieRoot(receipts.map(encodeReceipt)) !== header.receiptsRoot) throw wrongReceipts();
  return { block, senders, receipts };
}

function wrongReceipts(): InvalidBlockError {
  return new InvalidBlockError("BLOCK_INVALID_RECEIPTS_ROOT", "receipts are not the block's");
}
