import type { Hash } from "../../primitives/hash.ts";
import { minedTransactionText } from "../../rpc/methods/json/transaction-json.ts";
import { orderedTrieRoot } from "../../trie/ordered-trie-root.ts";
import type { Header } from "../../types/header.ts";
import { decodeTransaction } from "../../types/transaction/decode.ts";
import { impersonatedSender } from "../../types/transaction/impersonation.ts";
import { recoverSender } from "../../types/transaction/sender.ts";
import type { Json } from "./json.ts";
import { compare, unverified, type Verdict, verdictOf } from "./verdict.ts";

/** Members of a transaction that pages show. */
const SHOWN: ReadonlySet<string> = new Set([
  ...["hash", "blockHash", "blockNumber", "transactionIndex", "from", "to", "value", "nonce"],
  ...["gas", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "input", "type"],
]);

/** Whether `raws`, the transactions of a block in their canonical form, are those its header commits to. */
export function checkTransactionsRoot(
  header: Pick<Header, "transactionsRoot">,
  raws: readonly Uint8Array[],
): Verdict {
  return verdictOf(() =>
    compare("transactions root", header.transactionsRoot, orderedTrieRoot(raws)),
  );
}

/**
 * Whether every member of `claimed`, a transaction as the node answers it, follows from `raw`: decoded, its sender recovered
 * from the signature, and written as JSON again by the node's own code.
 * @param index in the block with `header` and `hash`
 */
export function checkTransaction(
  claimed: Json,
  raw: Uint8Array,
  { header, hash, index }: { readonly header: Header; readonly hash: Hash; readonly index: number },
): Verdict {
  return verdictOf(() => {
    const tx = decodeTransaction(raw);
    const impersonated = impersonatedSender(tx);
    const text = minedTransactionText({
      tx,
      sender: impersonated ?? recoverSender(tx),
      position: {
        ...{ index, blockHash: hash, blockNumber: header.number },
        blockTimestamp: header.timestamp,
        baseFeePerGas: header.baseFeePerGas,
      },
    });
    const compared = compare("", claimed, JSON.parse(text) as Json, SHOWN);
    if (compared.kind === "false" || impersonated === undefined) return compared;
    return unverified("sent by impersonation on a dev chain: no signature shows its sender");
  });
}
