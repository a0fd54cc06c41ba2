import { JournalWriteError, PoolJournal } from "../mempool/journal.ts";
import type { Mempool } from "../mempool/mempool.ts";
import type { Submission } from "../mempool/pool.ts";
import type { LogDirectory } from "../storage/log-file.ts";
import type { Logger } from "../telemetry/logger.ts";
import { decodePooledTransaction } from "../types/transaction/decode.ts";
import { encodePooledTransaction } from "../types/transaction/encode.ts";

/** A pool whose transactions are there again after the next start. */
export type KeptPool = {
  /**
   * Takes a transaction into the pool and its journal.
   * @throws TransactionRejectedError, JournalWriteError
   */
  add(submission: Submission): void;
  /** Size of the journal in bytes. */
  journalBytes(): number;
  close(): void;
};

/** Brings back what `directory` keeps of an earlier run, and keeps from now on what is added. */
export function keepPool(mempool: Mempool, directory: LogDirectory, log: Logger): KeptPool {
  const journal = new PoolJournal(directory, function* () {
    for (const { tx, sidecar } of mempool.all()) yield encodePooledTransaction(tx, sidecar);
  });
  restore(journal, mempool, log);
  return {
    add(submission) {
      const { tx, sidecar } = submission;
      // First, because whoever hears of the transaction may ask for it after the next start.
      const undo = journal.append(encodePooledTransaction(tx, sidecar));
      try {
        mempool.add(submission);
      } catch (error) {
        undo();
        throw error;
      }
    },
    journalBytes: () => journal.size,
    close: () => journal.close(),
  };
}

function restore(journal: PoolJournal, mempool: Mempool, log: Logger): void {
  const { transactions, lostBytes } = journal.read();
  if (transactions.length === 0 && lostBytes === 0) return;
  const answers = mempool.addAll(transactions.flatMap(submissionOf));
  const back = answers.filter((answer) => answer === undefined).length;
  // Most of the others are in a block by now.
  if (back > 0 || lostBytes > 0) log.info("pool restored", { transactions: back, lostBytes });
  try {
    journal.rewrite();
  } catch (error) {
    if (!(error instanceof JournalWriteError)) throw error;
    log.warn("no transactions are taken for the time being", { error });
  }
}

/** Nothing for bytes that are no transaction. */
function submissionOf(bytes: Uint8Array): readonly Submission[] {
  try {
    return [decodePooledTransaction(bytes)];
  } catch {
    return [];
  }
}
