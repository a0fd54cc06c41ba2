import type { TraceText } from "../../tracing/json-writer.ts";
import { NotTraceableError } from "../../tracing/trace-budget.ts";
import { defineMethod } from "../dispatch/method.ts";
import { joinedJson } from "../json/write.ts";
import { callBundles, stateContext } from "../params/call-bundles.ts";
import { type JsonText, optional, rawJson } from "../params/codec.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { traceCallConfig } from "./trace-config.ts";

/**
 * `debug_traceCallMany`: a trace of each call of `eth_callMany`, in a list for each bundle, as Erigon and reth have it.
 *
 * @throws LimitExceededError, NotTraceableError, InvalidTracerError, TracingFailedError, TracingTimeoutError
 */
export const traceCallMany = defineMethod({
  name: "debug_traceCallMany",
  params: {
    bundles: callBundles,
    context: optional(stateContext, {}),
    config: optional(traceCallConfig, { stateOverrides: undefined, blockOverrides: undefined }),
  },
  result: rawJson,
  heavy: true,
  async handle(
    { bundles, context: { blockNumber = "latest", transactionIndex }, config },
    { execution }: { execution: Pick<ExecutionPort, "traceBundles"> },
    caller,
  ) {
    if (blockNumber === "pending") {
      throw new NotTraceableError("tracing on top of pending is not supported");
    }
    const request = {
      ...config,
      ...(transactionIndex !== undefined && { txIndex: transactionIndex }),
    };
    const traces = await execution.traceBundles(bundles, blockNumber, request, caller);
    return listText(traces.map((bundle) => listText(bundle)));
  },
});

function listText(items: readonly (TraceText | JsonText)[]): JsonText {
  return joinedJson("[", ...items.flatMap((item, i) => (i === 0 ? [item] : [",", item])), "]");
}
