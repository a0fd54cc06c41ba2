import { createAddress } from "../../evm/create-address.ts";
import { blobParamsAt } from "../../params/blob-schedule.ts";
import type { ChainConfig } from "../../params/chain-config.ts";
import { blobBaseFee } from "../../params/fees.ts";
import { hardforkAt } from "../../params/hardfork-at.ts";
import { orderedTrieRoot } from "../../trie/ordered-trie-root.ts";
import type { Block, ExecutedBlock } from "../../types/block.ts";
import { logsBloom } from "../../types/bloom.ts";
import { headerHash } from "../../types/header-codec.ts";
import type { Receipt } from "../../types/receipt.ts";
import { encodeReceipt } from "../../types/receipt-codec.ts";
import { blobGasOf, effectiveGasPrice } from "../../types/transaction/fees.ts";
import { recoverSender, recoverSenders } from "../../types/transaction/sender.ts";
import { InvalidBlockError } from "../errors.ts";
import { validateBody } from "../validation/validate-body.ts";

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
    ...{ header, transactions, uncles, hash: headerHash(header) },
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
    blobParams && header.excessBlobGas !== undefined
      ? blobBaseFee(header.excessBlobGas, blobParams)
      : 0n;
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
