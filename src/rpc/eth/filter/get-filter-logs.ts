import { defineMethod } from "../../dispatch/method.ts";
import { rawAsciiJson } from "../../params/codec.ts";
import type { Sessions } from "../../ports/rpc-ports.ts";
import { filterId } from "./filter-id.ts";
import { type LogModules, searchLogs } from "./get-logs.ts";

/**
 * `eth_getFilterLogs`: what `eth_getLogs` answers to the criteria of the filter; changes not yet read stay.
 *
 * @throws FilterNotFoundError, FilterKindError, and what `eth_getLogs` throws
 */
export const getFilterLogs = defineMethod({
  name: "eth_getFilterLogs",
  params: { id: filterId },
  result: rawAsciiJson,
  heavy: true,
  handle: ({ id }, modules: LogModules & { sessions: Pick<Sessions, "filters"> }, context) =>
    searchLogs(modules.sessions.filters.criteriaOf(id), modules, context),
});
