import type { Hash } from "../../primitives/hash.ts";
import type { Header } from "../../types/header.ts";
import { dataText, plainText, quantityText } from "./write.ts";

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
] as const;

/** The members that `header` lacks, as null: geth writes them in `newHeads` notifications and nowhere else. */
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
  if (header.withdrawalsRoot !== undefined)
    text += `,"withdrawalsRoot":"${header.withdrawalsRoot}"`;
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
  return text;
}
