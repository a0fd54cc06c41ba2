import { NotTraceableError } from "../../tracing/trace-budget.ts";
import { defineMethod } from "../dispatch/method.ts";
import { blockSelector } from "../params/block-selector.ts";
import { callArguments } from "../params/call-arguments.ts";
import { optional, rawJson } from "../params/codec.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { traceCallConfig } from "./trace-config.ts";

/**
 * `debug_traceCall`: what would happen in a call on the state after `block`, or before its transaction `txIndex`.
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
  result: rawJson,
  heavy: true,
  handle(
    { request, block, config },
    { execution }: { execution: Pick<ExecutionPort, "traceCall"> },
    context,
  ) {
    if (block === "pending") {
      throw new NotTraceableError("tracing on top of pending is not supported");
    }
    return execution.traceCall(request, block, config, context);
  },
});
