import { EMPTY_BYTES } from "../../../primitives/bytes.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { byHash } from "../../params/block-selector.ts";
import { data, hash, quantityNumber } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** `eth_getRawTransactionByBlockHashAndIndex`: canonical encoding (EIP-2718); `0x` when block or index does not exist. */
export const getRawTransactionByBlockHashAndIndex = defineMethod({
  name: "eth_getRawTransactionByBlockHashAndIndex",
  params: { blockHash: hash, index: quantityNumber },
  result: data,
  handle: ({ blockHash, index }, { chain }: { chain: Pick<ChainView, "transactionAt"> }) =>
    andThen(chain.transactionAt(byHash(blockHash), index), (mined) => mined?.tx.raw ?? EMPTY_BYTES),
});
