import { defineMethod } from "../../dispatch/method.ts";
import { hash, optional, rawJson } from "../../params/codec.ts";
import type { InspectionPort } from "../../ports/inspection.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import { traceConfig } from "../trace-config.ts";
import { tracesText } from "../traces-text.ts";

/**
 * `debug_traceBadBlock`: `debug_traceBlock` of a block that `debug_getBadBlocks` lists.
 *
 * @throws NotTraceableError, and as debug_traceBlock
 */
export const traceBadBlock = defineMethod({
  name: "debug_traceBadBlock",
  params: { blockHash: hash, config: optional(traceConfig, {}) },
  result: rawJson,
  heavy: true,
  handle: (
    { blockHash, config },
    { inspection }: { inspection: Pick<InspectionPort, "traceBadBlock"> },
  ) => andThen(inspection.traceBadBlock(blockHash, config), tracesText),
});
