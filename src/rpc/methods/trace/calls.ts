import { blockSelector } from "../../ports/block-selector.ts";
import type { TracedCall } from "../../ports/execution.ts";
import { array, optional, type ParamCodec, rawJson } from "../../transport/codec.ts";
import { InvalidValueError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { joinedJson } from "../json/write.ts";
import { blockOverrides, callArguments, stateOverrides } from "../params/call-arguments.ts";
import { replayRequest, traceTypes } from "./transactions.ts";

/**
 * `trace_call`: traces a call on the state after `block`.
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
  example: [SAMPLE.call, ["trace", "vmTrace", "stateDiff"], "latest"],
  result: rawJson,
  heavy: true,
  handle: ({ request, types, block, stateOverrides, blockOverrides }, { execution }, context) =>
    execution.traceCall({
      args: request,
      at: block,
      request: { ...replayRequest(types), stateOverrides, blockOverrides },
      cancel: context,
    }),
});

/** `[call, types]` */
const callWithTypes: ParamCodec<TracedCall> = {
  schema: { type: "array", items: [callArguments.schema ?? {}, traceTypes.schema ?? {}] },
  decode(value, field) {
    if (!Array.isArray(value) || value.length !== 2) {
      throw new InvalidValueError("each call is a list of two: a call and its types of trace");
    }
    const { tracerConfig } = replayRequest(traceTypes.decode(value[1], field));
    return { args: callArguments.decode(value[0], field), tracerConfig };
  },
};

/**
 * `trace_callMany`: as `trace_call` for several calls, each on the state the previous calls left.
 *
 * @throws as `trace_call`
 */
export const traceCallMany = defineMethod({
  name: "trace_callMany",
  params: { calls: array(callWithTypes), block: optional(blockSelector, "latest") },
  example: [[[SAMPLE.call, ["trace"]]], "latest"],
  result: rawJson,
  heavy: true,
  async handle({ calls, block }, { execution }, context) {
    const traces = await execution.traceCalls({
      calls,
      at: block,
      request: replayRequest([]),
      cancel: context,
    });
    return joinedJson("[", ...traces.flatMap((trace, i) => (i === 0 ? [trace] : [",", trace])), "]");
  },
});
