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

/** The fate of the journal's transactions at the start. */
type RestoreResult = {
  readonly restored: number;
  /** Rejections by the pool, by code; most of these transactions are in a block. */
  readonly rejected: ReadonlyMap<string, number>;
  /** Records without a valid transaction. */
  readonly undecodable: number;
  /** Bytes without a valid record. */
  readonly lostBytes: number;
};

/** A pool's journal in use. */
export type JournaledPool = {
  readonly restoreResult: RestoreResult;
  journalBytes(): number;
  /** Number of failed writes. */
  writeFailures(): number;
  /**
   * Forgets transactions that are not pooled. After a rollback, the journal still has transactions of removed blocks, because their nonce was
   * used; otherwise the next start would restore them.
   */
  forgetIncluded(): void;
  /** Confirms the state by which the pool rejected transactions at the start. */
  forgetRejected(): void;
  close(): void;
};

/** These need no removal record while the blocks that used their nonces exist: the pool rejects them at the next start. */
const NONCE_USED: ReadonlySet<RemovalReason> = new Set(["included", "superseded"]);

export type JournaledPoolModules = {
  readonly directory: LogDirectory;
  /** The file keeps transactions that the pool rejects now, until `forgetRejected`: the state may be wrong. */
  readonly keepsRejected?: boolean;
  readonly log: Logger;
  /** Called by name before and after each step of the journal, for tests that crash there. */
  readonly failPoint?: ((name: string) => void) | undefined;
};

/** Restores an earlier run's transactions in `directory` into `mempool`, and stores added ones from then on. */
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
      // The next start may restore the transaction; the pool then decides about it again.
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
  /** Whether the journal holds exactly the pooled transactions. */
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
  // Each record is a pooled transaction: none was removed, replaced, rejected or lost.
  const isUnchanged = records.length === restored && lostBytes === 0;
  return { restored, rejected, undecodable, lostBytes, isUnchanged };
}

/** The transactions that were added and not removed, oldest first. */
function submissionsOf(records: readonly JournalRecord[]) {
  const submissions = new Map<Hash, Submission>();
  let undecodable = 0;
  for (const record of records) {
    if (record.kind === "removed") {
      for (const hash of record.hashes) submissions.delete(hash);
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
 * A record with a sender has a checksum, so its transaction is as the pool accepted it. Proofs in other records, of older versions, are verified
 * here.
 * @throws TransactionRejectedError if they are invalid
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
