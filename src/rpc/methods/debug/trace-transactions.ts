import type { TraceText } from "../../../evm/tracing/json-writer.ts";
import { NotTraceableError } from "../../../evm/tracing/trace-budget.ts";
import { blockSelector } from "../../ports/block-selector.ts";
import { hash, type JsonText, optional, rawJson } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { joinedJson } from "../json/write.ts";
import { callArguments, callBundles, stateContext } from "../params/call-arguments.ts";
import { traceCallConfig, traceConfig } from "./trace-config.ts";

/**
 * `debug_traceTransaction`: re-executes a mined transaction with the tracer in `config`.
 *
 * @throws NotTraceableError, InvalidTracerError, TracingTimeoutError
 * @see execution-apis `src/debug/tracing.yaml`
 */
export const traceTransaction = defineMethod({
  name: "debug_traceTransaction",
  params: { transactionHash: hash, config: optional(traceConfig, {}) },
  example: [SAMPLE.hash, { tracer: "callTracer" }],
  result: rawJson,
  heavy: true,
  handle: ({ transactionHash, config }, { execution }, context) =>
    execution.traceTransaction({ hash: transactionHash, request: config, cancel: context }),
});

/**
 * `debug_traceCall`: traces a call on the state after `block`, or before its transaction `txIndex`.
 *
 * @throws NotTraceableError, UnknownBlockError, InvalidTracerError, TracingFailedError, TracingTimeoutError
 */
export const traceCall = defineMethod({
  name: "debug_traceCall",
  params: {
    request: callArguments,
    block: optional(blockSelector, "latest"),
    config: optional(traceCallConfig, { stateOverrides: undefined, blockOverrides: undefined }),
  },
  example: [SAMPLE.call, "latest", { tracer: "callTracer" }],
  result: rawJson,
  heavy: true,
  handle({ request, block, config }, { execution }, context) {
    if (block === "pending") {
      throw new NotTraceableError("tracing on top of pending is not supported");
    }
    return execution.traceCall({ args: request, at: block, request: config, cancel: context });
  },
});

/**
 * `debug_traceCallMany`: traces each call of `eth_callMany`, one list per bundle, as in Erigon and reth.
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
  example: [[{ transactions: [SAMPLE.call, SAMPLE.call] }], { blockNumber: "latest" }, { tracer: "callTracer" }],
  result: rawJson,
  heavy: true,
  async handle({ bundles, context: { blockNumber = "latest", transactionIndex }, config }, { execution }, caller) {
    if (blockNumber === "pending") {
      throw new NotTraceableError("tracing on top of pending is not supported");
    }
    const request = {
      ...config,
      ...(transactionIndex !== undefined && { txIndex: transactionIndex }),
    };
    const traces = await execution.traceBundles({
      bundles,
      at: blockNumber,
      request,
      cancel: caller,
    });
    return listText(traces.map((bundle) => listText(bundle)));
  },
});

function listText(items: readonly (TraceText | JsonText)[]): JsonText {
  return joinedJson("[", ...items.flatMap((item, i) => (i === 0 ? [item] : [",", item])), "]");
}
