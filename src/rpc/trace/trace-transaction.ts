import { defineMethod } from "../dispatch/method.ts";
import { hash, rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { LOCALIZED } from "./trace-types.ts";

/**
 * `trace_transaction`: every frame of a mined transaction, in the order they began; null for an unknown transaction.
 *
 * @throws TracingTimeoutError, TraceTooLargeError
 */
export const traceTransaction = defineMethod({
  name: "trace_transaction",
  params: { transactionHash: hash },
  result: rawJson,
  heavy: true,
  async handle(
    { transactionHash },
    {
      chain,
      execution,
    }: {
      chain: Pick<ChainView, "transaction">;
      execution: Pick<ExecutionPort, "traceTransaction">;
    },
  ) {
    if (!(await chain.transaction(transactionHash))) return "null";
    return execution.traceTransaction(transactionHash, LOCALIZED);
  },
});
