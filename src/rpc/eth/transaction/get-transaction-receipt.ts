import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { receiptText } from "../../json/receipt-json.ts";
import { hash, rawJson } from "../../params/codec.ts";

/** `eth_getTransactionReceipt`: the receipt of a mined transaction; null, at once, for any other. */
export const getTransactionReceipt = defineMethod({
  name: "eth_getTransactionReceipt",
  params: { transactionHash: hash },
  result: rawJson,
  handle({ transactionHash }, { chain }: { chain: ChainReader }) {
    const mined = chain.transaction(transactionHash);
    return mined ? receiptText(mined.executed, mined.index) : "null";
  },
});
