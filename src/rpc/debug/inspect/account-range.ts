import { defineMethod } from "../../dispatch/method.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { boolean, data, json, jsonInteger } from "../../params/codec.ts";
import type { InspectionPort } from "../../ports/inspection.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import { DUMP_ACCOUNTS_MAX, dumpJson } from "./dump-json.ts";

/**
 * `debug_accountRange`: accounts of the state after a block from the hash `start`, at most 256. The address of every account is known here, so
 * that none is `incomplete`.
 *
 * @throws UnknownBlockError, TraceTooLargeError, TracingTimeoutError
 */
export const accountRange = defineMethod({
  name: "debug_accountRange",
  params: {
    block: blockSelector,
    start: data,
    maxResults: jsonInteger,
    noCode: boolean,
    noStorage: boolean,
    incompletes: boolean,
  },
  result: json,
  heavy: true,
  handle(
    { block, start, maxResults, noCode, noStorage },
    { inspection }: { inspection: Pick<InspectionPort, "dumpState"> },
  ) {
    const isInRange = maxResults > 0 && maxResults <= DUMP_ACCOUNTS_MAX;
    const dump = inspection.dumpState(block, {
      start,
      accountsMax: isInRange ? maxResults : DUMP_ACCOUNTS_MAX,
      withCode: !noCode,
      withStorage: !noStorage,
    });
    return andThen(dump, dumpJson);
  },
});
