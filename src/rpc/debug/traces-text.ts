import type { TransactionTrace } from "../ports/execution.ts";

/** JSON text of the traces of a block. */
export function tracesText(traces: readonly TransactionTrace[]): string {
  return `[${traces.map(traceText).join(",")}]`;
}

function traceText(trace: TransactionTrace): string {
  const outcome =
    "error" in trace ? `"error":${JSON.stringify(trace.error)}` : `"result":${trace.result}`;
  return `{"txHash":"${trace.txHash}",${outcome}}`;
}
