import { defineMethod } from "../dispatch/method.ts";
import { quantityText } from "../json/write.ts";
import { rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import { andThen } from "../ports/maybe-promise.ts";

/** `txpool_status`: how many transactions can be mined at once and how many wait for others. */
export const status = defineMethod({
  name: "txpool_status",
  params: {},
  result: rawJson,
  handle: (_params, { chain }: { chain: Pick<ChainView, "poolCounts"> }) =>
    andThen(
      chain.poolCounts(),
      ({ pending, queued }) =>
        `{"pending":${quantityText(pending)},"queued":${quantityText(queued)}}`,
    ),
});
