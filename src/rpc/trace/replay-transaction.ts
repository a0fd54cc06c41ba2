import { NotTraceableError } from "../../tracing/trace-budget.ts";
import { defineMethod } from "../dispatch/method.ts";
import { hash, rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { replayRequest, traceTypes } from "./trace-types.ts";

/**
 * `trace_replayTransaction`: a mined transaction executed again, with the parts of its trace that `types` names.
 *
 * @throws NotTraceableError for an unknown transaction, TracingTimeoutError, TraceTooLargeError
 */
export const replayTransaction = defineMethod({
  name: "trace_replayTransaction",
  params: { transactionHash: hash, types: traceTypes },
  result: rawJson,
  heavy: true,
  async handle(
    { transactionHash, types },
    {
      chain,
      execution,
    }: {
      chain: Pick<ChainView, "transaction">;
      execution: Pick<ExecutionPort, "traceTransaction">;
    },
    context,
  ) {
    if (!(await chain.transaction(transactionHash))) {
      throw new NotTraceableError("transaction not found");
    }
    return execution.traceTransaction(transactionHash, replayRequest(types), context);
  },
});
