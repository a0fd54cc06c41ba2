import { defineMethod } from "../dispatch/method.ts";
import { receiptText } from "../json/receipt-json.ts";
import { byHash } from "../params/block-selector.ts";
import { hash, rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import { andThen } from "../ports/maybe-promise.ts";
import { minedReceipts } from "../ports/mined.ts";

/** `erigon_getLogsByHash`: the logs of a block, one list for each transaction; null for an unknown block. */
export const getLogsByHash = defineMethod({
  name: "erigon_getLogsByHash",
  params: { blockHash: hash },
  result: rawJson,
  handle: ({ blockHash }, { chain }: { chain: Pick<ChainView, "block"> }) =>
    andThen(chain.block(byHash(blockHash)), (executed) => {
      if (!executed) return "null";
      const lists = minedReceipts(executed).map(
        (mined) => (JSON.parse(receiptText(mined)) as { readonly logs: unknown }).logs,
      );
      return JSON.stringify(lists);
    }),
});
