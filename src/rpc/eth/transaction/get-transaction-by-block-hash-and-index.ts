import { defineMethod } from "../../dispatch/method.ts";
import { minedTransactionText } from "../../json/transaction-json.ts";
import { byHash } from "../../params/block-selector.ts";
import { hash, quantityNumber, rawJson } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** `eth_getTransactionByBlockHashAndIndex`: a transaction by block and index; null when either does not exist. */
export const getTransactionByBlockHashAndIndex = defineMethod({
  name: "eth_getTransactionByBlockHashAndIndex",
  params: { blockHash: hash, index: quantityNumber },
  result: rawJson,
  handle: ({ blockHash, index }, { chain }: { chain: Pick<ChainView, "transactionAt"> }) =>
    andThen(chain.transactionAt(byHash(blockHash), index), minedTransactionText),
});
