import type { ChainReader } from "../../../chain/reader.ts";
import { EMPTY_BYTES } from "../../../primitives/bytes.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { blockNumberOrTag } from "../../params/block-selector.ts";
import { data, quantityNumber } from "../../params/codec.ts";
import { findByNumber } from "../../ports/resolve.ts";

/** `eth_getRawTransactionByBlockNumberAndIndex`: canonical encoding (EIP-2718); `0x` when block or place does not exist. */
export const getRawTransactionByBlockNumberAndIndex = defineMethod({
  name: "eth_getRawTransactionByBlockNumberAndIndex",
  params: { block: blockNumberOrTag, index: quantityNumber },
  result: data,
  handle: ({ block, index }, { chain }: { chain: ChainReader }) =>
    findByNumber(chain, block)?.block.transactions[index]?.raw ?? EMPTY_BYTES,
});
