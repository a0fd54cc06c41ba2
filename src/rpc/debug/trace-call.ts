import type { ChainReader } from "../../chain/reader.ts";
import { NotTraceableError } from "../../tracing/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { blockSelector } from "../params/block-selector.ts";
import { callRequest } from "../params/call-request.ts";
import { optional, rawJson } from "../params/codec.ts";
import type { TraceExecutor } from "../ports/execution.ts";
import { findBlock, resolveState } from "../ports/resolve.ts";
import { traceCallConfig } from "./trace-config.ts";

/**
 * `debug_traceCall`: what would happen in a call on the state after `block`, or before its transaction `txIndex`.
 *
 * @throws NotTraceableError, UnknownBlockError, InvalidTracerError, TracingFailedError, TracingTimeoutError
 */
export const traceCall = defineMethod({
  name: "debug_traceCall",
  params: {
    request: callRequest,
    block: optional(blockSelector, "latest"),
    config: optional(traceCallConfig, { stateOverrides: undefined, blockOverrides: undefined }),
  },
  result: rawJson,
  heavy: true,
  handle(
    { request, block, config },
    { chain, tracing }: { chain: ChainReader; tracing: TraceExecutor },
    context,
  ) {
    if (block === "pending") {
      throw new NotTraceableError("tracing on top of pending is not supported");
    }
    if (!findBlock(chain, block)) {
      const name = typeof block === "object" ? block.blockHash : `#${block}`;
      throw new NotTraceableError(`block ${name} not found`);
    }
    const signal = () => context.signal;
    return tracing.traceCall(request, resolveState(chain, block), { ...config, signal });
  },
});
