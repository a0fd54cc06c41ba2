import { VerifiedBlobs } from "../../base/crypto/kzg/verified-blobs.ts";
import { NodeError } from "../../base/errors.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import { type DecodedPooledTransaction, decodePooledTransaction } from "../../base/types/transaction/decode.ts";
import { noteAuthorities } from "../../base/types/transaction/sender.ts";
import type { LogDirectory } from "../../store/storage/log/log-file.ts";
import type { JournalRecord } from "./journal.ts";
import { JournalWriteError, PoolJournal } from "./journal.ts";
import type { Mempool } from "./mempool.ts";
import type { RemovalReason, Submission } from "./pool.ts";
import { kzgRejection } from "./sidecar.ts";

/** What became of the journal's transactions at the start. */
type RestoreResult = {
  readonly restored: number;
  /** Rejected by the pool, by code; most of them are in a block. */
  readonly rejected: ReadonlyMap<string, number>;
  /** Records that hold no transaction. */
  readonly undecodable: number;
  /** Bytes that hold no record. */
  readonly lostBytes: number;
};

/** The journal of a pool, in use. */
export type JournaledPool = {
  readonly restoreResult: RestoreResult;
  journalBytes(): number;
  /** Writes that failed. */
  writeFailures(): number;
  /**
   * Forgets what is not pooled: blocks are gone whose transactions the journal still has, because their nonce was used. They would be
   * restored at the next start otherwise.
   */
  forgetIncluded(): void;
  /** The state was right by which the pool rejected some at the start. */
  forgetRejected(): void;
  close(): void;
};

/** These need no record while the blocks stay that used their nonces: the pool rejects them at the next start. */
const NONCE_USED: ReadonlySet<RemovalReason> = new Set(["included", "superseded"]);

export type JournaledPoolModules = {
  readonly directory: LogDirectory;
  /** The file keeps what the pool rejects now, until `forgetRejected`: the state that it asks can be wrong. */
  readonly keepsRejected?: boolean;
  readonly log: Logger;
  /** Called by name before and after each step of the journal, for tests that die there. */
  readonly failPoint?: ((name: string) => void) | undefined;
};

/** Restores the transactions in `directory` of an earlier run into `mempool`, and stores added ones from then on. */
export function journalPool(
  mempool: Mempool,
  { directory, keepsRejected = false, log, failPoint = () => {} }: JournaledPoolModules,
): JournaledPool {
  const journal = new PoolJournal(directory, () => mempool.all(), failPoint);
  let failures = 0;

  function onWriteError(error: unknown): void {
    if (!(error instanceof JournalWriteError)) throw error;
    failures++;
    log.error("pool journal cannot be written", { error });
  }

  const { isUnchanged, ...restoreResult } = restore(journal, mempool, log);
  try {
    if (!(isUnchanged || keepsRejected) || !journal.resume()) journal.rewrite();
  } catch (error) {
    onWriteError(error);
  }
  mempool.setStore({
    append(transaction) {
      try {
        journal.append(transaction);
      } catch (error) {
        onWriteError(error);
        throw error;
      }
    },
  });
  mempool.onRemoved(({ tx }, reason) => {
    if (NONCE_USED.has(reason)) {
      journal.noteUsed(tx.hash);
      return;
    }
    try {
      journal.appendRemoval(tx.hash);
    } catch (error) {
      // The transaction may be restored at the next start; the pool decides about it again.
      onWriteError(error);
    }
  });
  return {
    restoreResult,
    journalBytes: () => journal.size,
    writeFailures: () => failures,
    forgetIncluded() {
      try {
        journal.forgetUsed();
      } catch (error) {
        onWriteError(error);
      }
    },
    forgetRejected() {
      if (isUnchanged) return;
      try {
        journal.rewrite();
      } catch (error) {
        onWriteError(error);
      }
    },
    close: () => journal.close(),
  };
}

function restore(
  journal: PoolJournal,
  mempool: Mempool,
  log: Logger,
): RestoreResult & {
  /** The journal holds the transactions in the pool and nothing else. */
  readonly isUnchanged: boolean;
} {
  const { records, lostBytes } = journal.read();
  const { submissions, undecodable } = submissionsOf(records);
  const rejected = new Map<string, number>();
  for (const [index, rejection] of mempool.addAll(submissions).entries()) {
    if (rejection === undefined) continue;
    const { code, message: reason } = rejection;
    rejected.set(code, (rejected.get(code) ?? 0) + 1);
    if (log.enabled("debug")) {
      const { hash } = submissions[index]!.tx;
      log.debug("journaled transaction rejected", { hash, reason });
    }
  }
  const { pending, queued } = mempool.counts();
  const restored = pending + queued;
  if (restored > 0) log.info("pool restored", { transactions: restored });
  if (undecodable > 0 || lostBytes > 0) {
    log.warn("pool journal damaged", { undecodable, lostBytes });
  }
  // Each record is a transaction that is pooled: none was removed, replaced, rejected or lost.
  const isUnchanged = records.length === restored && lostBytes === 0;
  return { restored, rejected, undecodable, lostBytes, isUnchanged };
}

/** The transactions that were added and not removed afterwards, oldest first. */
function submissionsOf(records: readonly JournalRecord[]) {
  const submissions = new Map<Hash, Submission>();
  let undecodable = 0;
  for (const record of records) {
    if (record.kind === "removed") {
      submissions.delete(record.hash);
      continue;
    }
    try {
      const decoded = decodePooledTransaction(record.transaction);
      const { tx } = decoded;
      if (tx.type === 4 && record.authorities) noteAuthorities(tx.authorizationList, record.authorities);
      submissions.set(tx.hash, submissionOf(decoded, record.sender));
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      undecodable++;
    }
  }
  return { submissions: [...submissions.values()], undecodable };
}

/**
 * A record with a sender has a checksum: its transaction is as it was when the pool accepted it. Proofs in other records, of older
 * versions, are verified here.
 * @throws TransactionRejectedError where they do not hold
 */
function submissionOf({ tx, sidecar }: DecodedPooledTransaction, sender: Address | undefined): Submission {
  if (sender === undefined) {
    if (!sidecar) return { tx };
    const fault = new VerifiedBlobs().faultOf(sidecar);
    if (fault !== undefined) throw kzgRejection(fault);
    return { tx, sidecar, isVerified: true };
  }
  return sidecar ? { tx, sender, sidecar, isVerified: true } : { tx, sender, isVerified: true };
}
