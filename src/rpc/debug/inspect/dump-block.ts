import { EMPTY_BYTES } from "../../../primitives/bytes.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { json } from "../../params/codec.ts";
import type { InspectionPort } from "../../ports/inspection.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import { DUMP_ACCOUNTS_MAX, dumpJson } from "./dump-json.ts";
import { numberOrTag } from "./number-or-tag.ts";

/**
 * `debug_dumpBlock`: the accounts of the state after a block with code and storage, the first 256; `debug_accountRange` has the rest.
 *
 * @throws UnknownBlockError, TraceTooLargeError, TracingTimeoutError
 */
export const dumpBlock = defineMethod({
  name: "debug_dumpBlock",
  params: { block: numberOrTag },
  result: json,
  heavy: true,
  handle: ({ block }, { inspection }: { inspection: Pick<InspectionPort, "dumpState"> }) =>
    andThen(
      inspection.dumpState(block, {
        start: EMPTY_BYTES,
        accountsMax: DUMP_ACCOUNTS_MAX,
        withCode: true,
        withStorage: true,
      }),
      dumpJson,
    ),
});
