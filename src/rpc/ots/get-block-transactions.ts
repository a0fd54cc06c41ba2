import { defineMethod } from "../dispatch/method.ts";
import { receiptText } from "../json/receipt-json.ts";
import { rawJson } from "../params/codec.ts";
import { lenientInteger } from "../params/lenient-integer.ts";
import type { ChainView } from "../ports/chain-view.ts";
import { minedReceipts } from "../ports/mined.ts";
import type { RpcSettings, Sessions } from "../ports/rpc-ports.ts";
import { otsBlockNumber } from "./block-number.ts";
import { blockObject } from "./block-summary.ts";
import { assertPageSize } from "./page-size.ts";

/** `0x` and a function selector. */
const SELECTOR_CHARS = 10;

/**
 * `ots_getBlockTransactions`: a page of a block's transactions with the first four bytes of their input, and their receipts without
 * logs. Page 0 holds the last transactions of the block; null beyond the head.
 *
 * @throws InvalidParamsError for a page that is too large
 */
export const getBlockTransactions = defineMethod({
  name: "ots_getBlockTransactions",
  params: { block: otsBlockNumber, pageNumber: lenientInteger, pageSize: lenientInteger },
  result: rawJson,
  async handle(
    { block, pageNumber, pageSize },
    {
      chain,
      sessions,
      settings,
    }: {
      chain: Pick<ChainView, "block">;
      sessions: Pick<Sessions, "blockJson">;
      settings: Pick<RpcSettings, "otsPageSizeMax">;
    },
  ) {
    assertPageSize(pageSize, settings);
    const executed = await chain.block(block);
    if (!executed) return "null";
    const { transactions, ...rest } = blockObject(executed, true, sessions);
    const end = Math.max(0, transactions.length - pageNumber * pageSize);
    const start = Math.max(0, end - pageSize);
    const shown = (transactions as readonly { readonly input: string }[]).slice(start, end);
    const cut = shown.map((tx) => ({ ...tx, input: tx.input.slice(0, SELECTOR_CHARS) }));
    const receipts = minedReceipts(executed)
      .slice(start, end)
      .map((mined) => ({ ...JSON.parse(receiptText(mined)), logs: null, logsBloom: null }));
    return JSON.stringify({ fullblock: { ...rest, transactions: cut }, receipts });
  },
});
