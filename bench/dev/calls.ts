import { setTimeout } from "node:timers/promises";
import { type CountedOperation, OPERATIONS, operationsOf, startCountedNode } from "../../test/support/call-counts.ts";
import { printTable, writeResult } from "../support/report.ts";

/** What follows an answer, such as the pending block, has run by then. */
const SETTLED_MS = 150;
const RUNS = 100;

/**
 * Functions called, and different ones, by the first and the hundredth of each operation, until the answer and after it. Each count is
 * that of one run; timers that fire in it make the difference of some per cent between two runs.
 *
 * @param args an operation and a number: prints as many of its most frequent functions
 */
export async function run([wanted, shown = "60"]: readonly string[]): Promise<void> {
  const node = await startCountedNode("start", "--dev", "--port", "0", "--log.level", "error");
  const rows: Record<string, string | number>[] = [];
  const add = async (operation: string, { prepare, run: work }: CountedOperation) => {
    await prepare?.();
    // Of the start nothing is left out.
    if (rows.length > 0) await node.take();
    await work();
    const answer = await node.take();
    await setTimeout(SETTLED_MS);
    const after = await node.take();
    rows.push({
      operation,
      calls: answer.calls,
      functions: answer.functions,
      "calls after the answer": after.calls,
      "functions after": after.functions,
    });
    if (wanted !== undefined && operation === `${wanted}, hundredth`) {
      for (const [title, { hottest }] of Object.entries({ answer, after })) {
        console.log(`${title}:`);
        for (const { name, calls } of hottest.slice(0, Number(shown)))
          console.log(`${String(calls).padStart(6)}  ${name}`);
      }
    }
  };
  try {
    await add("start, first answer", { run: () => node.call("eth_chainId", []) });
    const operations = operationsOf(node);
    for (let run = 1; run <= RUNS; run++) {
      const isCounted = run === 1 || run === RUNS;
      for (const operation of OPERATIONS) {
        if (isCounted) await add(`${operation}, ${run === 1 ? "first" : "hundredth"}`, operations[operation]);
        else {
          await operations[operation].prepare?.();
          await operations[operation].run();
        }
      }
    }
  } finally {
    await node.stop();
  }
  printTable(rows);
  writeResult("calls", rows);
}
