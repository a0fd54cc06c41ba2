import { defineMethod } from "../../dispatch/method.ts";
import { receiptText } from "../../json/receipt-json.ts";
import { hash, rawJson } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** `eth_getTransactionReceipt`: the receipt of a mined transaction; null, at once, for any other. */
export const getTransactionReceipt = defineMethod({
  name: "eth_getTransactionReceipt",
  params: { transactionHash: hash },
  result: rawJson,
  handle: ({ transactionHash }, { chain }: { chain: Pick<ChainView, "receipt"> }) =>
    andThen(chain.receipt(transactionHash), (mined) => (mined ? receiptText(mined) : "null")),
});
