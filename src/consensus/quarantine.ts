import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NodeError } from "../base/errors.ts";
import type { Hash } from "../base/primitives/hash.ts";
import { bytesToHex } from "../base/primitives/hex.ts";
import type { Transaction } from "../base/types/transaction/transaction.ts";
import { InvalidBlockError } from "../evm/execution/errors.ts";
import { makeFolder } from "../store/storage/make-folder.ts";
import { replaceFile } from "../store/storage/replace-file.ts";

/**
 * No block can include `transaction`, for another reason than a rejection: a block with it breaks a block rule, or there is a bug or damaged
 * data. The block under construction may hold half of its changes and must be discarded.
 */
export class ExecutorFailure extends Error {
  readonly transaction: Transaction;
  constructor(transaction: Transaction, cause: unknown) {
    super(`executing transaction ${transaction.hash} failed`, { cause });
    this.name = "ExecutorFailure";
    this.transaction = transaction;
  }
}

/** Removes a transaction that crashes the executor from pool, journal and later starts. */
export type SetAside = (failure: ExecutorFailure) => void;

/** One line of the file, for debugging. */
export type QuarantineEntry = {
  readonly hash: Hash;
  /** EIP-2718 bytes */
  readonly raw: string;
  /** The executor's exception with its stack. */
  readonly error: string;
  /** For its sender; absent in files of older versions. */
  readonly reason?: string;
  /** ISO 8601 */
  readonly time: string;
};

/** The transaction crashed the executor before, so the pool rejects it. */
class QuarantinedTransactionError extends NodeError {
  readonly code = "POOL_QUARANTINED";
  constructor(details: { readonly hash: Hash; readonly reason: string }) {
    super(`transaction ${details.hash} is quarantined: ${details.reason}`, details);
  }
}

/** The reason that a sender gets for a bug: its text stays in the file. */
const EXECUTION_FAILED = "executing it failed";

/** Transactions that no block can include. They stay out of the pool, even after a restart. */
export type Quarantine = {
  /** Adds a transaction; the file is durable when it returns. @throws errors of the disk; `has` is true even then */
  add(transaction: Transaction, cause: unknown): void;
  /** @throws QuarantinedTransactionError */
  assertAllowed(hash: Hash): void;
  hashes(): Iterable<Hash>;
  size(): number;
};

/** The file of transactions that crashed the executor. */
export const QUARANTINE_LIMITS = {
  /** 128 of the largest transactions, kept to find the bug; new entries replace the oldest. */
  bytesMax: 16 * 2 ** 20,
} as const;

type QuarantineOptions = {
  /** Holds `transactions.jsonl`; created with the first entry. */
  readonly directory: string;
  /** Maximum size of the file; the oldest entries make room. */
  readonly bytesMax: number;
};

/** @param modules.now Unix milliseconds */
export function openQuarantine(
  { directory, bytesMax }: QuarantineOptions,
  modules: { readonly now: () => number },
): Quarantine {
  const path = join(directory, "transactions.jsonl");
  const reasons = new Map(linesOf(path).flatMap(entryOf));
  return {
    add({ hash, raw }, cause) {
      if (reasons.has(hash)) return;
      const reason = cause instanceof InvalidBlockError ? `no block can have it: ${cause.message}` : EXECUTION_FAILED;
      reasons.set(hash, reason);
      const error = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
      const time = new Date(modules.now()).toISOString();
      const entry: QuarantineEntry = { hash, raw: bytesToHex(raw), error, reason, time };
      const lines = [...linesOf(path), JSON.stringify(entry)];
      let bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
      while (bytes > bytesMax && lines.length > 0) {
        const oldest = lines.shift()!;
        bytes -= Buffer.byteLength(oldest) + 1;
        for (const [dropped] of entryOf(oldest)) reasons.delete(dropped);
      }
      makeFolder(directory);
      replaceFile(path, lines.map((line) => `${line}\n`).join(""), 0o600);
    },
    assertAllowed(hash) {
      const reason = reasons.get(hash);
      if (reason !== undefined) throw new QuarantinedTransactionError({ hash, reason });
    },
    hashes: () => reasons.keys(),
    size: () => reasons.size,
  };
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Empty for a line that is not an entry. */
function entryOf(line: string): readonly (readonly [Hash, string])[] {
  try {
    const { hash, reason = EXECUTION_FAILED } = JSON.parse(line) as Partial<QuarantineEntry>;
    return typeof hash === "string" && /^0x[0-9a-f]{64}$/.test(hash) ? [[hash, String(reason)]] : [];
  } catch {
    return [];
  }
}
