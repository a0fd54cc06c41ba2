import { logsBloom } from "../../../base/types/bloom.ts";
import type { Header } from "../../../base/types/header.ts";
import type { Receipt } from "../../../base/types/receipt.ts";
import { encodeReceipt } from "../../../base/types/receipt-codec.ts";
import { createAddress } from "../../../evm/machine/contract-creation.ts";
import { receiptText } from "../../../rpc/methods/json/receipt-json.ts";
import { orderedTrieRoot } from "../../../store/trie/ordered-trie-root.ts";
import {
  addressOf,
  bigintOf,
  bytesOf,
  compare,
  hashOf,
  type Json,
  listOf,
  numberOf,
  type Verdict,
  verdictOf,
} from "./verdict.ts";

/** Members of a receipt and of its logs that pages show. */
const SHOWN: ReadonlySet<string> = new Set([
  "transactionHash",
  "blockNumber",
  "status",
  "gasUsed",
  "effectiveGasPrice",
  "contractAddress",
  "logs",
  "address",
  "topics",
  "data",
  "logIndex",
]);

/** A receipt's consensus fields from its JSON; computes the bloom from its logs. @throws InvalidHexError */
function receiptOf(json: Json): Parameters<typeof encodeReceipt>[0] {
  const outcome =
    json["root"] === undefined ? { status: numberOf(json["status"]) as 0 | 1 } : { postState: hashOf(json["root"]) };
  const logs = listOf(json["logs"]).map((log) => {
    const { address, topics, data } = log as Json;
    return { address: addressOf(address), topics: listOf(topics).map(hashOf), data: bytesOf(data) };
  });
  return {
    type: numberOf(json["type"] ?? "0x0") as Receipt["type"],
    ...outcome,
    cumulativeGasUsed: bigintOf(json["cumulativeGasUsed"]),
    logsBloom: logsBloom(logs),
    logs,
  };
}

/** Whether the header commits to `receipts`, all of a block. */
export function checkReceiptsRoot(header: Pick<Header, "receiptsRoot">, receipts: readonly Json[]): Verdict {
  return verdictOf(() => {
    const root = orderedTrieRoot(receipts.map((json) => encodeReceipt(receiptOf(json))));
    return compare("receipts root", header.receiptsRoot, root);
  });
}

/**
 * Whether every member of receipt `index` of a block follows from verified data. The root covers status, cumulative gas, bloom and logs. The
 * rest follows from the receipts before it and from its transaction, and is rendered as JSON by the node's own code. The price of blob gas is
 * not covered.
 * @param receipts all of the block, verified by `checkReceiptsRoot`
 * @param transaction verified, in the form of `eth_getTransactionByHash`
 */
export function checkReceipt(receipts: readonly Json[], index: number, transaction: Json, header: Header): Verdict {
  return verdictOf(() => {
    const claimed = receipts[index]!;
    const earlier = receipts.slice(0, index);
    const receipt = receiptOf(claimed);
    const gasUsedBefore = index === 0 ? 0n : bigintOf(earlier.at(-1)!["cumulativeGasUsed"]);
    const from = addressOf(transaction["from"]);
    const to = transaction["to"] === null ? null : addressOf(transaction["to"]);
    const text = receiptText({
      receipt: {
        ...receipt,
        gasUsed: receipt.cumulativeGasUsed - gasUsedBefore,
        contractAddress: to === null ? createAddress(from, bigintOf(transaction["nonce"])) : null,
        effectiveGasPrice: bigintOf(transaction["gasPrice"]),
      },
      transactionHash: hashOf(transaction["hash"]),
      from,
      to,
      position: {
        index,
        blockHash: hashOf(transaction["blockHash"]),
        blockNumber: header.number,
        blockTimestamp: header.timestamp,
        baseFeePerGas: header.baseFeePerGas,
      },
      firstLogIndex: earlier.reduce((sum, { logs }) => sum + listOf(logs).length, 0),
    });
    return compare("", claimed, JSON.parse(text) as Json, SHOWN);
  });
}
