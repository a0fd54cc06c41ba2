import { defineMethod } from "../dispatch/method.ts";
import { blockSelector } from "../params/block-selector.ts";
import { blockOverrides, callArguments, stateOverrides } from "../params/call-arguments.ts";
import { optional, rawJson } from "../params/codec.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { replayRequest, traceTypes } from "./trace-types.ts";

/**
 * `trace_call`: what a call would do on the state after `block`.
 *
 * @throws UnknownBlockError, TracingFailedError, TracingTimeoutError, TraceTooLargeError
 */
export const traceCall = defineMethod({
  name: "trace_call",
  params: {
    request: callArguments,
    types: traceTypes,
    block: optional(blockSelector, "latest"),
    stateOverrides: optional(stateOverrides),
    blockOverrides: optional(blockOverrides),
  },
  result: rawJson,
  heavy: true,
  handle: (
    { request, types, block, stateOverrides, blockOverrides },
    { execution }: { execution: Pick<ExecutionPort, "traceCall"> },
  ) =>
    execution.traceCall(request, block, {
      ...{ ...replayRequest(types), stateOverrides, blockOverrides },
    }),
});
