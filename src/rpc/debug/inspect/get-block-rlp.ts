import { encodeBlock } from "../../../types/block-codec.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { data } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import { assertBlock } from "./assert-block.ts";
import { numberOrTag } from "./number-or-tag.ts";

/**
 * `debug_getBlockRlp`: RLP of the block, as geth before 1.11 had it; `debug_getRawBlock` is its successor.
 *
 * @throws UnknownBlockError
 */
export const getBlockRlp = defineMethod({
  name: "debug_getBlockRlp",
  params: { block: numberOrTag },
  result: data,
  handle: ({ block }, { chain }: { chain: Pick<ChainView, "block"> }) =>
    andThen(chain.block(block), (executed) => {
      assertBlock(executed, block);
      return encodeBlock(executed.block);
    }),
});
