import type { Hash } from "../../../base/primitives/hash.ts";
import { allAtOnce, StepWork } from "../../../base/threads/in-slices.ts";
import type { ExecutedBlock, Withdrawal } from "../../../base/types/block.ts";
import { blockSize } from "../../../base/types/block-codec.ts";
import type { Header } from "../../../base/types/header.ts";
import { headerHash } from "../../../base/types/header-codec.ts";
import type { SealedHeader } from "../../ports/chain-view.ts";
import { minedTransactionOf } from "../../ports/mined.ts";
import type { SyncProgress } from "../../ports/node.ts";
import { TEXT_WORK } from "./list-in-steps.ts";
import { minedTransactionText } from "./transaction-json.ts";
import { dataText, plainListText, plainText, quantityText } from "./write.ts";

/** JSON text of a header without its block. */
export function headerText({ hash, header }: SealedHeader, style: HeaderStyle): string {
  return `{${headerMembers(header, hash, style)}}`;
}

/** JSON text of a block, with hashes or with whole transactions. */
export function blockText(executed: ExecutedBlock, isFull: boolean, style: HeaderStyle): string {
  return allAtOnce(blockTextInSteps(executed, isFull, style));
}

/** The same in steps of some transactions. */
export function* blockTextInSteps(
  executed: ExecutedBlock,
  isFull: boolean,
  style: HeaderStyle,
): Generator<undefined, string> {
  const textOf = (hash: Hash, index: number) => (isFull ? transactionTextAt(executed, index) : `"${hash}"`);
  const transactions: string[] = [];
  const work = new StepWork();
  for (const [index, { hash }] of executed.block.transactions.entries()) {
    const text = textOf(hash, index);
    transactions.push(text);
    if (work.add(text.length, TEXT_WORK)) yield;
  }
  const joined = transactions.join(",");
  yield;
  return blockTextWith(executed, joined, style);
}

/** @param transactions JSON texts, separated by commas */
export function blockTextWith({ block }: ExecutedBlock, transactions: string, style: HeaderStyle): string {
  const withdrawals = block.withdrawals ? `,"withdrawals":[${block.withdrawals.map(withdrawalText).join(",")}]` : "";
  return (
    `{${headerMembers(block.header, block.hash, style)},"size":${quantityText(blockSize(block))}` +
    `,"transactions":[${transactions}],"uncles":${plainListText(block.uncles.map(headerHash))}${withdrawals}}`
  );
}

/** Its header and the size of a block that holds nothing else. */
function uncleText(uncle: Header, style: HeaderStyle): string {
  const size = blockSize({ header: uncle, transactions: [], uncles: [] });
  return `{${headerMembers(uncle, headerHash(uncle), style)},"size":${quantityText(size)},"uncles":[]}`;
}

/** JSON text of the uncle at `index`; null if none. */
export function uncleTextAt(uncles: readonly Header[] | undefined, index: number, style: HeaderStyle): string {
  const uncle = uncles?.[index];
  return uncle ? uncleText(uncle, style) : "null";
}

function transactionTextAt(executed: ExecutedBlock, index: number): string {
  return minedTransactionText(minedTransactionOf(executed, index));
}

function withdrawalText({ index, validatorIndex, address, amount }: Withdrawal): string {
  return (
    `{"index":${quantityText(index)},"validatorIndex":${quantityText(validatorIndex)}` +
    `,"address":"${address}","amount":${quantityText(amount)}}`
  );
}

/** How headers are shown. */
export type HeaderStyle = {
  /**
   * `nonce`, `sha3Uncles`, `difficulty` and `totalDifficulty` as null, by the letter of the service description. Off by default:
   * ethers, alloy, Hardhat and go-ethereum's client each reject some of these nulls.
   */
  readonly nullPowFields: boolean;
  /** The block is not sealed yet: `hash`, `nonce` and `miner` are null. */
  readonly isPending?: boolean;
};

const OPTIONAL_MEMBERS = [
  "baseFeePerGas",
  "withdrawalsRoot",
  "blobGasUsed",
  "excessBlobGas",
  "parentBeaconBlockRoot",
  "requestsHash",
  "blockAccessListHash",
  "slotNumber",
] as const;

/** The members that `header` lacks, as null: geth writes them only in `newHeads` notifications and execution witnesses. */
export function absentMembers(header: Header): string {
  const absent = OPTIONAL_MEMBERS.filter((name) => header[name] === undefined);
  return absent.map((name) => `,"${name}":null`).join("");
}

/** The members a header has in JSON, without braces. Optional ones are there when the header has them. */
export function headerMembers(header: Header, hash: Hash, style: HeaderStyle): string {
  const { isPending = false, nullPowFields } = style;
  let text =
    `"number":${quantityText(header.number)},"hash":${isPending ? "null" : plainText(hash)}` +
    `,"parentHash":"${header.parentHash}"` +
    `,"nonce":${isPending || nullPowFields ? "null" : dataText(header.nonce)}` +
    `,"mixHash":"${header.mixHash}"` +
    `,"sha3Uncles":${nullPowFields ? "null" : plainText(header.sha3Uncles)}` +
    `,"logsBloom":${dataText(header.logsBloom)},"stateRoot":"${header.stateRoot}"` +
    `,"miner":${isPending ? "null" : plainText(header.coinbase)}` +
    `,"difficulty":${nullPowFields ? "null" : quantityText(header.difficulty)}` +
    `,"extraData":${dataText(header.extraData)},"gasLimit":${quantityText(header.gasLimit)}` +
    `,"gasUsed":${quantityText(header.gasUsed)},"timestamp":${quantityText(header.timestamp)}` +
    `,"transactionsRoot":"${header.transactionsRoot}","receiptsRoot":"${header.receiptsRoot}"`;
  if (nullPowFields) text += ',"totalDifficulty":null';
  if (header.baseFeePerGas !== undefined) {
    text += `,"baseFeePerGas":${quantityText(header.baseFeePerGas)}`;
  }
  if (header.withdrawalsRoot !== undefined) text += `,"withdrawalsRoot":"${header.withdrawalsRoot}"`;
  if (header.blobGasUsed !== undefined) {
    text += `,"blobGasUsed":${quantityText(header.blobGasUsed)}`;
  }
  if (header.excessBlobGas !== undefined) {
    text += `,"excessBlobGas":${quantityText(header.excessBlobGas)}`;
  }
  if (header.parentBeaconBlockRoot !== undefined) {
    text += `,"parentBeaconBlockRoot":"${header.parentBeaconBlockRoot}"`;
  }
  if (header.requestsHash !== undefined) text += `,"requestsHash":"${header.requestsHash}"`;
  if (header.blockAccessListHash !== undefined) text += `,"blockAccessListHash":"${header.blockAccessListHash}"`;
  if (header.slotNumber !== undefined) text += `,"slotNumber":${quantityText(header.slotNumber)}`;
  return text;
}

/** JSON text of how far the node has come. */
export function syncProgressText(progress: SyncProgress): string {
  const members = Object.entries(progress).map(([key, value]) => `"${key}":${quantityText(value)}`);
  return `{${members.join(",")}}`;
}
