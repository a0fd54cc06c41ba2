import { InvalidValueError } from "../dispatch/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { joinedJson } from "../json/write.ts";
import { blockSelector } from "../params/block-selector.ts";
import { callArguments } from "../params/call-arguments.ts";
import { array, optional, type ParamCodec, rawJson } from "../params/codec.ts";
import type { ExecutionPort, TracedCall } from "../ports/execution.ts";
import { replayRequest, traceTypes } from "./trace-types.ts";

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
 * `trace_callMany`: as `trace_call`, one call after another, each on the state that those before it leave.
 *
 * @throws as `trace_call`
 */
export const traceCallMany = defineMethod({
  name: "trace_callMany",
  params: { calls: array(callWithTypes), block: optional(blockSelector, "latest") },
  result: rawJson,
  heavy: true,
  async handle(
    { calls, block },
    { execution }: { execution: Pick<ExecutionPort, "traceCalls"> },
    context,
  ) {
    const traces = await execution.traceCalls(calls, block, replayRequest([]), context);
    return joinedJson(
      "[",
      ...traces.flatMap((trace, i) => (i === 0 ? [trace] : [",", trace])),
      "]",
    );
  },
});
