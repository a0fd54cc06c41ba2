import { EMPTY_BYTES } from "../../../primitives/bytes.ts";
import { encodePooledTransaction } from "../../../types/transaction/encode.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { data, hash } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/**
 * `eth_getRawTransactionByHash`: canonical encoding (EIP-2718) of a mined or pooled transaction, a pooled one with its blobs.
 * Unknown gives no bytes, `0x`, as in geth.
 */
export const getRawTransactionByHash = defineMethod({
  name: "eth_getRawTransactionByHash",
  params: { transactionHash: hash },
  result: data,
  handle: ({ transactionHash }, { chain }: { chain: Pick<ChainView, "transaction" | "pooled"> }) =>
    andThen(chain.transaction(transactionHash), (mined) => {
      if (mined) return mined.tx.raw;
      return andThen(chain.pooled(transactionHash), (pooled) => {
        if (pooled) return encodePooledTransaction(pooled.tx, pooled.sidecar);
        // Where the pool is in another process, a block may have included it between the two looks.
        return andThen(chain.transaction(transactionHash), (mined) => mined?.tx.raw ?? EMPTY_BYTES);
      });
    }),
});
