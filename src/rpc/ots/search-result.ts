import { invariant } from "../../errors.ts";
import { receiptText } from "../json/receipt-json.ts";
import { minedTransactionText } from "../json/transaction-json.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { RpcSettings } from "../ports/rpc-ports.ts";
import type { AddressSearchModules, Position } from "./transactions-of.ts";

export type SearchModules = AddressSearchModules & {
  readonly chain: Pick<ChainView, "addressPage" | "transactionAt" | "receipt">;
  readonly settings: Pick<RpcSettings, "otsPageSizeMax">;
};

/**
 * `{txs, receipts, firstPage, lastPage}`; each receipt has the time of its block.
 * @param newestFirst the transactions of the page
 */
export async function searchResult(
  newestFirst: readonly Position[],
  pages: { readonly firstPage: boolean; readonly lastPage: boolean },
  { chain }: Pick<SearchModules, "chain">,
): Promise<string> {
  const txs: string[] = [];
  const receipts: string[] = [];
  for (const { number, index } of newestFirst) {
    const mined = await chain.transactionAt(number, index);
    // Rolled back since.
    if (!mined) continue;
    const receipt = await chain.receipt(mined.tx.hash);
    invariant(receipt, `transaction ${mined.tx.hash} must have a receipt`);
    txs.push(minedTransactionText(mined));
    const { blockTimestamp } = mined.position;
    receipts.push(`${receiptText(receipt).slice(0, -1)},"timestamp":${blockTimestamp}}`);
  }
  return (
    `{"txs":[${txs.join(",")}],"receipts":[${receipts.join(",")}]` +
    `,"firstPage":${pages.firstPage},"lastPage":${pages.lastPage}}`
  );
}
