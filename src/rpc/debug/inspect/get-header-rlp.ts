import { encodeHeader } from "../../../types/header-codec.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { data } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import { assertBlock } from "./assert-block.ts";
import { numberOrTag } from "./number-or-tag.ts";

/**
 * `debug_getHeaderRlp`: RLP of the header, as geth before 1.11 had it; `debug_getRawHeader` is its successor.
 *
 * @throws UnknownBlockError
 */
export const getHeaderRlp = defineMethod({
  name: "debug_getHeaderRlp",
  params: { block: numberOrTag },
  result: data,
  handle: ({ block }, { chain }: { chain: Pick<ChainView, "header"> }) =>
    andThen(chain.header(block), (sealed) => {
      assertBlock(sealed, block);
      return encodeHeader(sealed.header);
    }),
});
