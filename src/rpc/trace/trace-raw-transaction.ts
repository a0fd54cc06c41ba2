import { defineMethod } from "../dispatch/method.ts";
import { blockSelector } from "../params/block-selector.ts";
import { data, optional, rawJson } from "../params/codec.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { replayRequest, traceTypes } from "./trace-types.ts";

/**
 * `trace_rawTransaction`: what a signed transaction would do after `block`; it is not sent.
 *
 * @throws TracingFailedError where it is not valid there, the decoder's rejections, UnknownBlockError, TracingTimeoutError
 */
export const traceRawTransaction = defineMethod({
  name: "trace_rawTransaction",
  params: { raw: data, types: traceTypes, block: optional(blockSelector, "latest") },
  result: rawJson,
  heavy: true,
  handle: (
    { raw, types, block },
    { execution }: { execution: Pick<ExecutionPort, "traceRawTransaction"> },
  ) => execution.traceRawTransaction(raw, block, replayRequest(types)),
});
