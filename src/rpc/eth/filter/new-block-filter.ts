import { defineMethod } from "../../dispatch/method.ts";
import { string } from "../../params/codec.ts";
import type { Sessions } from "../../ports/rpc-ports.ts";

/** `eth_newBlockFilter`: id of a filter for the hashes of blocks yet to come. @throws TooManyError */
export const newBlockFilter = defineMethod({
  name: "eth_newBlockFilter",
  params: {},
  result: string,
  handle: (_params, { sessions }: { sessions: Pick<Sessions, "filters"> }, { connection }) =>
    sessions.filters.addBlocks(connection),
});
