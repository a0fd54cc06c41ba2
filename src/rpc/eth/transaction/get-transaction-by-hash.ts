import type { ChainReader } from "../../../chain/reader.ts";
import type { PoolReader } from "../../../mempool/pool.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { minedTransactionText } from "../../json/block-json.ts";
import { transactionText } from "../../json/transaction-json.ts";
import { hash, rawJson } from "../../params/codec.ts";

/** `eth_getTransactionByHash`: the transaction from the chain, or else from the pool, pending or queued; null when unknown. */
export const getTransactionByHash = defineMethod({
  name: "eth_getTransactionByHash",
  params: { transactionHash: hash },
  result: rawJson,
  handle({ transactionHash }, { chain, pool }: { chain: ChainReader; pool: PoolReader }) {
    const mined = chain.transaction(transactionHash);
    if (mined) return minedTransactionText(mined.executed, mined.index);
    const pooled = pool.get(transactionHash);
    return pooled ? transactionText(pooled.tx, pooled.sender) : "null";
  },
});
