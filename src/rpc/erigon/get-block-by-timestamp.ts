import { defineMethod } from "../dispatch/method.ts";
import { boolean, rawJson } from "../params/codec.ts";
import { lenientInteger } from "../params/lenient-integer.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { Sessions } from "../ports/rpc-ports.ts";

/** `erigon_getBlockByTimestamp`: the newest block whose timestamp is at most `timestamp` (Unix seconds); null where none is. */
export const getBlockByTimestamp = defineMethod({
  name: "erigon_getBlockByTimestamp",
  params: { timestamp: lenientInteger, isFull: boolean },
  result: rawJson,
  async handle(
    { timestamp, isFull },
    {
      chain,
      sessions,
    }: {
      chain: Pick<ChainView, "head" | "header" | "block">;
      sessions: Pick<Sessions, "blockJson">;
    },
  ) {
    const head = await chain.head();
    let low = -1;
    let high = head.header.number;
    if (head.header.timestamp > timestamp) {
      while (low + 1 < high) {
        const middle = Math.floor((low + high) / 2);
        const sealed = await chain.header(middle);
        if (sealed && sealed.header.timestamp <= timestamp) low = middle;
        else high = middle;
      }
      high = low;
    }
    const executed = high < 0 ? undefined : await chain.block(high);
    return executed ? sessions.blockJson.get(executed, isFull ? "full" : "hashes") : "null";
  },
});
