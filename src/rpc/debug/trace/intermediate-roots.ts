import { defineMethod } from "../../dispatch/method.ts";
import { array, hash, optional } from "../../params/codec.ts";
import type { InspectionPort } from "../../ports/inspection.ts";
import { traceConfig } from "../trace-config.ts";

/**
 * `debug_intermediateRoots`: the state root after each transaction of a block, or of a block that `debug_getBadBlocks` lists.
 *
 * @throws NotTraceableError, TracingTimeoutError
 */
export const intermediateRoots = defineMethod({
  name: "debug_intermediateRoots",
  params: { blockHash: hash, config: optional(traceConfig, {}) },
  result: array(hash),
  heavy: true,
  handle: (
    { blockHash },
    { inspection }: { inspection: Pick<InspectionPort, "intermediateRoots"> },
  ) => inspection.intermediateRoots(blockHash),
});
