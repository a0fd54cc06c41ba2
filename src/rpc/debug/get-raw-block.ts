import { EMPTY_BYTES } from "../../primitives/bytes.ts";
import { encodeBlock } from "../../types/block-codec.ts";
import { defineMethod } from "../dispatch/method.ts";
import { blockSelector } from "../params/block-selector.ts";
import { data } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import { andThen } from "../ports/maybe-promise.ts";
import { assertNotByHash, rawSelector } from "./raw-selector.ts";

/**
 * `debug_getRawBlock`: RLP of the block. An unknown number gives no bytes, `0x`, as in geth.
 *
 * @throws UnknownBlockError for an unknown hash
 */
export const getRawBlock = defineMethod({
  name: "debug_getRawBlock",
  params: { block: blockSelector },
  result: data,
  handle: ({ block }, { chain }: { chain: Pick<ChainView, "block"> }) =>
    andThen(chain.block(rawSelector(block)), (executed) => {
      if (executed) return encodeBlock(executed.block);
      assertNotByHash(block, "block");
      return EMPTY_BYTES;
    }),
});
