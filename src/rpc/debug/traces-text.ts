import { joinedJson } from "../json/write.ts";
import type { JsonText } from "../params/codec.ts";
import type { TransactionTrace } from "../ports/execution.ts";

/** JSON of the traces of a block. */
export function tracesText(traces: readonly TransactionTrace[]): JsonText {
  const parts = traces.flatMap((trace, i): readonly JsonText[] => {
    const head = `${i === 0 ? "" : ","}{"txHash":"${trace.txHash}",`;
    if ("error" in trace) return [`${head}"error":${JSON.stringify(trace.error)}}`];
    return [`${head}"result":`, trace.result, "}"];
  });
  return joinedJson("[", ...parts, "]");
}
