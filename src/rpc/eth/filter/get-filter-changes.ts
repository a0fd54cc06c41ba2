import { defineMethod } from "../../dispatch/method.ts";
import { rawAsciiJson } from "../../params/codec.ts";
import type { Sessions } from "../../ports/rpc-ports.ts";
import { filterId } from "./filter-id.ts";

/** `eth_getFilterChanges`: what occurred since the last call. @throws FilterNotFoundError */
export const getFilterChanges = defineMethod({
  name: "eth_getFilterChanges",
  params: { id: filterId },
  result: rawAsciiJson,
  handle: ({ id }, { sessions }: { sessions: Pick<Sessions, "filters"> }) =>
    sessions.filters.changes(id),
});
