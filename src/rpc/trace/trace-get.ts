import { textString } from "../../tracing/json-writer.ts";
import { defineMethod } from "../dispatch/method.ts";
import { array, hash, quantityNumber, rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { LOCALIZED } from "./trace-types.ts";

/**
 * `trace_get`: the frame of a mined transaction at a `traceAddress`; the empty list names the outermost one. null where there is none.
 *
 * @throws TracingTimeoutError, TraceTooLargeError
 */
export const traceGet = defineMethod({
  name: "trace_get",
  params: { transactionHash: hash, traceAddress: array(quantityNumber, "[]hexutil.Uint64") },
  result: rawJson,
  heavy: true,
  async handle(
    { transactionHash, traceAddress },
    {
      chain,
      execution,
    }: {
      chain: Pick<ChainView, "transaction">;
      execution: Pick<ExecutionPort, "traceTransaction">;
    },
    context,
  ) {
    if (!(await chain.transaction(transactionHash))) return "null";
    const text = await execution.traceTransaction(transactionHash, LOCALIZED, context);
    const traces = JSON.parse(textString(text)) as readonly {
      readonly traceAddress: readonly number[];
    }[];
    const wanted = traceAddress.join();
    return JSON.stringify(traces.find((trace) => trace.traceAddress.join() === wanted) ?? null);
  },
});
