import { aliasMethod, defineMethod } from "../../dispatch/method.ts";
import { minedTransactionText } from "../../json/transaction-json.ts";
import { blockNumberOrTag } from "../../params/block-selector.ts";
import { quantityNumber, rawJson } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** `eth_getTransactionByBlockNumberAndIndex`: a transaction by block and index; null when either does not exist. */
export const getTransactionByBlockNumberAndIndex = defineMethod({
  name: "eth_getTransactionByBlockNumberAndIndex",
  params: { block: blockNumberOrTag, index: quantityNumber },
  result: rawJson,
  handle: ({ block, index }, { chain }: { chain: Pick<ChainView, "transactionAt"> }) =>
    andThen(chain.transactionAt(block, index), minedTransactionText),
});

/** The same under the spelling of the service description. */
export const getTransactionbyBlockNumberAndIndex = aliasMethod(
  getTransactionByBlockNumberAndIndex,
  "eth_getTransactionbyBlockNumberAndIndex",
);
