import { NotTraceableError } from "../../tracing/trace-budget.ts";
import { defineMethod } from "../dispatch/method.ts";
import { blockNumberOrTag } from "../params/block-selector.ts";
import { optional, rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { traceConfig } from "./trace-config.ts";
import { tracesText } from "./traces-text.ts";

/**
 * `debug_traceBlockByNumber`: what happened in each transaction of a block of the chain.
 *
 * @throws NotTraceableError, InvalidTracerError, TracingTimeoutError
 * @see execution-apis `src/debug/tracing.yaml`
 */
export const traceBlockByNumber = defineMethod({
  name: "debug_traceBlockByNumber",
  params: { block: blockNumberOrTag, config: optional(traceConfig, {}) },
  result: rawJson,
  heavy: true,
  async handle(
    { block, config },
    {
      chain,
      execution,
    }: {
      chain: Pick<ChainView, "head" | "oldest">;
      execution: Pick<ExecutionPort, "traceBlock">;
    },
    context,
  ) {
    if (block === "pending") {
      throw new NotTraceableError("tracing on top of pending is not supported");
    }
    const number =
      typeof block === "number"
        ? block
        : block === "earliest"
          ? (await chain.oldest()).block
          : (await chain.head()).header.number;
    return tracesText(await execution.traceBlock(number, config, context));
  },
});
