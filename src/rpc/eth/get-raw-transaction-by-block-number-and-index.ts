import type { ChainReader } from "../../chain/reader.ts";
import { EMPTY_BYTES } from "../../primitives/bytes.ts";
import { blockNumberOrTag } from "../block-selector.ts";
import { data, quantityNumber } from "../codec.ts";
import { defineMethod } from "../method.ts";
import { findByNumber } from "../resolve.ts";

/** `eth_getRawTransactionByBlockNumberAndIndex`: canonical encoding (EIP-2718); `0x` when block or place does not exist. */
export const getRawTransactionByBlockNumberAndIndex = defineMethod({
  name: "eth_getRawTransactionByBlockNumberAndIndex",
  params: { block: blockNumberOrTag, index: quantityNumber },
  result: data,
  handle: ({ block, index }, { chain }: { chain: ChainReader }) =>
    findByNumber(chain, block)?.block.transactions[index]?.raw ?? EMPTY_BYTES,
});
