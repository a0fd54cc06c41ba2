import type { TransactionTrace } from "../ports/execution.ts";

/** JSON text of the traces of a block. */
export function tracesText(traces: readonly TransactionTrace[]): string {
  return `[${traces.map(({ txHash, result }) => `{"txHash":"${txHash}","result":${result}}`).join(",")}]`;
}
