import type { Hash } from "../../../base/primitives/hash.ts";
import { allAtOnce } from "../../../base/threads/in-slices.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import type { Log } from "../../../base/types/receipt.ts";
import type { MinedReceipt } from "../../ports/chain-view.ts";
import { minedReceipts } from "../../ports/mined.ts";
import { listInSteps } from "./list-in-steps.ts";
import { dataText, plainListText, plainText, quantityText } from "./write.ts";

/** Where a log is in the chain. */
export type LogPosition = {
  readonly blockHash: Hash;
  readonly blockNumber: number;
  readonly blockTimestamp: number;
  readonly transactionHash: Hash;
  readonly transactionIndex: number;
  /** in the block */
  readonly logIndex: number;
};

/** JSON text of a log. */
export function logText(log: Log, position: LogPosition, removed = false): string {
  return (
    `{"address":"${log.address}","topics":${plainListText(log.topics)},"data":${dataText(log.data)}` +
    `,"blockNumber":${quantityText(position.blockNumber)},"transactionHash":"${position.transactionHash}"` +
    `,"transactionIndex":${quantityText(position.transactionIndex)},"blockHash":"${position.blockHash}"` +
    `,"blockTimestamp":${quantityText(position.blockTimestamp)}` +
    `,"logIndex":${quantityText(position.logIndex)},"removed":${removed}}`
  );
}

/** JSON text of all receipts of a block. */
export function receiptsText(executed: ExecutedBlock): string {
  return allAtOnce(receiptsTextInSteps(executed));
}

/** The same in steps of some receipts. */
export function* receiptsTextInSteps(executed: ExecutedBlock): Generator<undefined, string> {
  return yield* listInSteps(minedReceipts(executed), receiptText);
}

/** The logs of each receipt of a block, a list for each, in steps. */
export function* logListsInSteps(executed: ExecutedBlock): Generator<undefined, string> {
  return yield* listInSteps(minedReceipts(executed), logsTextOf);
}

/** JSON text of the logs of a receipt. */
export function logsTextOf({ receipt, transactionHash, position, firstLogIndex }: MinedReceipt): string {
  const { blockHash, blockNumber, blockTimestamp, index } = position;
  const logs = receipt.logs.map((log, i) =>
    logText(log, {
      blockHash,
      blockNumber,
      blockTimestamp,
      transactionHash,
      transactionIndex: index,
      logIndex: firstLogIndex + i,
    }),
  );
  return `[${logs.join(",")}]`;
}

/** JSON text of a receipt. */
export function receiptText(mined: MinedReceipt): string {
  const { receipt, transactionHash, from, to } = mined;
  const { blockHash, blockNumber, index } = mined.position;
  const outcome =
    receipt.status === undefined
      ? `,"root":${plainText(receipt.postState ?? null)}`
      : `,"status":"0x${receipt.status}"`;
  const blob =
    receipt.blobGasUsed === undefined
      ? ""
      : `,"blobGasUsed":${quantityText(receipt.blobGasUsed)}` +
        `,"blobGasPrice":${quantityText(receipt.blobGasPrice ?? 0n)}`;
  return (
    `{"blockHash":"${blockHash}","blockNumber":${quantityText(blockNumber)}` +
    `,"transactionHash":"${transactionHash}","transactionIndex":${quantityText(index)}` +
    `,"from":"${from}","to":${plainText(to)}` +
    `,"gasUsed":${quantityText(receipt.gasUsed)}` +
    `,"cumulativeGasUsed":${quantityText(receipt.cumulativeGasUsed)}` +
    `,"contractAddress":${plainText(receipt.contractAddress)},"logs":${logsTextOf(mined)}` +
    `,"logsBloom":${dataText(receipt.logsBloom)},"type":${quantityText(receipt.type)}` +
    `,"effectiveGasPrice":${quantityText(receipt.effectiveGasPrice)}${outcome}${blob}}`
  );
}
