import { EMPTY_BYTES } from "../../primitives/bytes.ts";
import { encodeHeader } from "../../types/header-codec.ts";
import { defineMethod } from "../dispatch/method.ts";
import { blockSelector } from "../params/block-selector.ts";
import { data } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import { andThen } from "../ports/maybe-promise.ts";
import { assertNotByHash, rawSelector } from "./raw-selector.ts";

/**
 * `debug_getRawHeader`: RLP of the header. An unknown number gives no bytes, `0x`, as in geth.
 *
 * @throws UnknownBlockError for an unknown hash
 */
export const getRawHeader = defineMethod({
  name: "debug_getRawHeader",
  params: { block: blockSelector },
  result: data,
  handle: ({ block }, { chain }: { chain: Pick<ChainView, "header"> }) =>
    andThen(chain.header(rawSelector(block)), (sealed) => {
      if (sealed) return encodeHeader(sealed.header);
      assertNotByHash(block, "header");
      return EMPTY_BYTES;
    }),
});
