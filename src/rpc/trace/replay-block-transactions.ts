import { defineMethod } from "../dispatch/method.ts";
import { blockSelector } from "../params/block-selector.ts";
import { rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { resultOf } from "./block-traces.ts";
import { replayRequest, traceTypes } from "./trace-types.ts";

/**
 * `trace_replayBlockTransactions`: as `trace_replayTransaction`, of each transaction of a block, with its hash; null for an unknown block.
 *
 * @throws TracingTimeoutError, TraceTooLargeError, PendingUnavailableError
 */
export const replayBlockTransactions = defineMethod({
  name: "trace_replayBlockTransactions",
  params: { block: blockSelector, types: traceTypes },
  result: rawJson,
  heavy: true,
  async handle(
    { block, types },
    {
      chain,
      execution,
    }: { chain: Pick<ChainView, "block">; execution: Pick<ExecutionPort, "traceBlock"> },
    context,
  ) {
    const executed = await chain.block(block === "pending" ? "latest" : block);
    if (!executed) return "null";
    const { hash, transactions } = executed.block;
    if (transactions.length === 0) return "[]";
    const traces = await execution.traceBlock(hash, replayRequest(types), context);
    const texts = traces.map(
      (trace) => `${resultOf(trace).slice(0, -1)},"transactionHash":"${trace.txHash}"}`,
    );
    return `[${texts.join(",")}]`;
  },
});
