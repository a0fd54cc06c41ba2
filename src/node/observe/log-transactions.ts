import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import type { Chain } from "../../chain/chain.ts";
import type { BlockCommitted } from "../../chain/reader.ts";
import type { DevChain } from "../../dev/dev-chain.ts";
import { ConsoleWatch } from "./console-watch.ts";
import type { TransactionDetails, TransactionTracer } from "./transaction-tracer.ts";

/** Failed transactions per block whose reason is determined: each is executed again after all its predecessors in the block. */
const REASONS_MAX = 5;
/** Transactions with a higher index are not executed again. */
const DETAILED_INDEX_MAX = 100;

/** Logs one line per transaction of a dev chain, with the reason of failures, and lines for console output and calls. */
export function logTransactions(
  { chain, devChain }: { readonly chain: Chain; readonly devChain: DevChain | undefined },
  {
    log,
    timers,
    tracer,
    hasArtifacts,
  }: {
    readonly log: Logger;
    readonly timers: Pick<Timers, "soon">;
    readonly tracer: TransactionTracer;
    /** Whether to log calls. */
    readonly hasArtifacts: boolean;
  },
): void {
  const watch = new ConsoleWatch();
  const logLines = async (event: BlockCommitted) => {
    const { block, senders, receipts } = event.executed;
    const { number } = block.header;
    const isPrinting = watch.mayPrint(event, chain.stateAt(number));
    let reasons = 0;
    for (const [index, tx] of block.transactions.entries()) {
      const receipt = receipts[index]!;
      const isFailed = receipt.status === 0;
      const isDetailed = isPrinting || hasArtifacts || (isFailed && reasons++ < REASONS_MAX);
      const details =
        isDetailed && index < DETAILED_INDEX_MAX
          ? await detailsOf(tracer.details(tx.hash, { number, isFailed }))
          : undefined;
      log.info("transaction", {
        hash: tx.hash,
        from: senders[index],
        ...(tx.to === null ? { created: receipt.contractAddress } : { to: tx.to }),
        gasUsed: receipt.gasUsed,
        status: isFailed ? "failed" : "success",
        ...(isFailed && details && { reason: details.reason }),
      });
      if (details === undefined) continue;
      if (details.fault !== undefined && !isFailed) {
        log.warn("could not show the calls of a transaction", { hash: tx.hash, reason: details.fault });
      }
      for (const text of details.printed) log.info("console.log", { text, hash: tx.hash });
      if (!hasArtifacts) continue;
      const { calls, revertedAt } = details;
      for (const text of calls) log.info("call", { text, hash: tx.hash });
      if (revertedAt !== undefined) log.info("call", { text: `reverted at ${revertedAt}`, hash: tx.hash });
    }
  };
  chain.subscribe((event) => {
    // Runs after the callers that wait for the block, since the line may need an execution.
    if (!log.enabled("info") || devChain?.settings.logging === false) return;
    timers.soon("transaction log", () => logLines(event));
  });
}

/** Never rejects: the block stands even if its log lines fail. */
export function detailsOf(found: Promise<TransactionDetails>): Promise<TransactionDetails> {
  return found.catch((error: unknown) => {
    const fault = error instanceof Error ? error.message : String(error);
    return { reason: `unknown (${fault})`, revertedAt: undefined, calls: [], printed: [], fault };
  });
}

/** Logs one line per block. */
export function logBlocks(chain: Chain, log: Logger): void {
  chain.subscribe(({ executed: { block } }) => {
    const { number, gasUsed } = block.header;
    const { hash, transactions } = block;
    log.info("block committed", { number, hash, transactions: transactions.length, gasUsed });
  });
}
