import { defineMethod } from "../../dispatch/method.ts";
import { boolean } from "../../params/codec.ts";
import type { Sessions } from "../../ports/rpc-ports.ts";
import { filterId } from "./filter-id.ts";

/** `eth_uninstallFilter`: false when there is no such filter. */
export const uninstallFilter = defineMethod({
  name: "eth_uninstallFilter",
  params: { id: filterId },
  result: boolean,
  handle: ({ id }, { sessions }: { sessions: Pick<Sessions, "filters"> }) =>
    sessions.filters.remove(id),
});
