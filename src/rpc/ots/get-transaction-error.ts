import { textString } from "../../tracing/json-writer.ts";
import { defineMethod } from "../dispatch/method.ts";
import { hash, rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import type { TracedCall } from "./call-tree.ts";

/**
 * `ots_getTransactionError`: what a transaction reverted with; `0x` where it succeeded or reverted without data, null for an unknown
 * transaction.
 *
 * @throws TracingTimeoutError
 */
export const getTransactionError = defineMethod({
  name: "ots_getTransactionError",
  params: { transactionHash: hash },
  result: rawJson,
  heavy: true,
  async handle(
    { transactionHash },
    {
      chain,
      execution,
    }: {
      chain: Pick<ChainView, "receipt">;
      execution: Pick<ExecutionPort, "traceTransaction">;
    },
  ) {
    const mined = await chain.receipt(transactionHash);
    if (!mined) return "null";
    if (mined.receipt.status === 1) return '"0x"';
    const request = { tracer: "callTracer", tracerConfig: { onlyTopCall: true } };
    const text = await execution.traceTransaction(transactionHash, request);
    const { output = "0x", error } = JSON.parse(textString(text)) as TracedCall;
    return JSON.stringify(error === undefined ? "0x" : output);
  },
});
