import type { Hash } from "../../primitives/hash.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import type { Log } from "../../types/receipt.ts";
import { dataText, plainListText, plainText, quantityText } from "./write.ts";

/** Where a log stands. */
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
export function logText(log: Log, place: LogPosition, removed = false): string {
  return (
    `{"address":"${log.address}","topics":${plainListText(log.topics)},"data":${dataText(log.data)}` +
    `,"blockNumber":${quantityText(place.blockNumber)},"transactionHash":"${place.transactionHash}"` +
    `,"transactionIndex":${quantityText(place.transactionIndex)},"blockHash":"${place.blockHash}"` +
    `,"blockTimestamp":${quantityText(place.blockTimestamp)}` +
    `,"logIndex":${quantityText(place.logIndex)},"removed":${removed}}`
  );
}

/** JSON text of the receipt at `index`, which the block has. */
export function receiptText(executed: ExecutedBlock, index: number): string {
  return receiptTextAt(executed, index, logsBefore(executed, index));
}

/** JSON text of all receipts of a block. */
export function receiptsText(executed: ExecutedBlock): string {
  let logIndex = 0;
  const texts = executed.receipts.map((receipt, index) => {
    const text = receiptTextAt(executed, index, logIndex);
    logIndex += receipt.logs.length;
    return text;
  });
  return `[${texts.join(",")}]`;
}

/** How many logs the transactions before `index` left. */
export function logsBefore({ receipts }: ExecutedBlock, index: number): number {
  let count = 0;
  for (let i = 0; i < index; i++) count += receipts[i]!.logs.length;
  return count;
}

function receiptTextAt(executed: ExecutedBlock, index: number, firstLogIndex: number): string {
  const { block, receipts, senders } = executed;
  const tx = block.transactions[index]!;
  const receipt = receipts[index]!;
  const { number, timestamp } = block.header;
  const logs = receipt.logs.map((log, i) =>
    logText(log, {
      blockHash: block.hash,
      blockNumber: number,
      blockTimestamp: timestamp,
      transactionHash: tx.hash,
      transactionIndex: index,
      logIndex: firstLogIndex + i,
    }),
  );
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
    `{"blockHash":"${block.hash}","blockNumber":${quantityText(number)}` +
    `,"transactionHash":"${tx.hash}","transactionIndex":${quantityText(index)}` +
    `,"from":"${senders[index]}","to":${plainText(tx.to)}` +
    `,"gasUsed":${quantityText(receipt.gasUsed)}` +
    `,"cumulativeGasUsed":${quantityText(receipt.cumulativeGasUsed)}` +
    `,"contractAddress":${plainText(receipt.contractAddress)},"logs":[${logs.join(",")}]` +
    `,"logsBloom":${dataText(receipt.logsBloom)},"type":${quantityText(receipt.type)}` +
    `,"effectiveGasPrice":${quantityText(receipt.effectiveGasPrice)}${outcome}${blob}}`
  );
}
