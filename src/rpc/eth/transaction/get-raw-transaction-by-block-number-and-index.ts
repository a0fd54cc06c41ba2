import { EMPTY_BYTES } from "../../../primitives/bytes.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { blockNumberOrTag } from "../../params/block-selector.ts";
import { data, quantityNumber } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** `eth_getRawTransactionByBlockNumberAndIndex`: canonical encoding (EIP-2718); `0x` when block or index does not exist. */
export const getRawTransactionByBlockNumberAndIndex = defineMethod({
  name: "eth_getRawTransactionByBlockNumberAndIndex",
  params: { block: blockNumberOrTag, index: quantityNumber },
  result: data,
  handle: ({ block, index }, { chain }: { chain: Pick<ChainView, "transactionAt"> }) =>
    andThen(chain.transactionAt(block, index), (mined) => mined?.tx.raw ?? EMPTY_BYTES),
});
