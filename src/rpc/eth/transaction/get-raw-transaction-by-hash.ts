import type { ChainReader } from "../../../chain/reader.ts";
import type { PoolReader } from "../../../mempool/pool.ts";
import { EMPTY_BYTES } from "../../../primitives/bytes.ts";
import { encodePooledTransaction } from "../../../types/transaction/encode.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { data, hash } from "../../params/codec.ts";

/**
 * `eth_getRawTransactionByHash`: canonical encoding (EIP-2718) of a mined or pooled transaction, a pooled one with its blobs.
 * Unknown gives no bytes, `0x`, as in geth.
 */
export const getRawTransactionByHash = defineMethod({
  name: "eth_getRawTransactionByHash",
  params: { transactionHash: hash },
  result: data,
  handle({ transactionHash }, { chain, pool }: { chain: ChainReader; pool: PoolReader }) {
    const mined = chain.transaction(transactionHash);
    if (mined) return mined.executed.block.transactions[mined.index]!.raw;
    const pooled = pool.get(transactionHash);
    return pooled ? encodePooledTransaction(pooled.tx, pooled.sidecar) : EMPTY_BYTES;
  },
});
