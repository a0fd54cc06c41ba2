import type { ChainReader } from "../../../chain/reader.ts";
import { EMPTY_BYTES } from "../../../primitives/bytes.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { data, hash, quantityNumber } from "../../params/codec.ts";

/** `eth_getRawTransactionByBlockHashAndIndex`: canonical encoding (EIP-2718); `0x` when block or place does not exist. */
export const getRawTransactionByBlockHashAndIndex = defineMethod({
  name: "eth_getRawTransactionByBlockHashAndIndex",
  params: { blockHash: hash, index: quantityNumber },
  result: data,
  handle: ({ blockHash, index }, { chain }: { chain: ChainReader }) =>
    chain.blockByHash(blockHash)?.block.transactions[index]?.raw ?? EMPTY_BYTES,
});
