import { NodeError } from "../errors.ts";
import { decodeRlpAt, encodeRlp, InvalidRlpError, rlpItemEnd } from "../primitives/rlp.ts";
import type { LogDirectory, LogFile } from "../storage/log-file.ts";

/** A transaction was not taken because its journal cannot be written. */
export class JournalWriteError extends NodeError {
  readonly code = "POOL_JOURNAL_WRITE";
}

/** Below this size in bytes nothing is gained by writing the journal anew. */
const REWRITE_BYTES_MIN = 1_048_576;

/** What the journal held when it was opened. */
export type JournalContent = {
  /** In the order of their arrival, in network form. */
  readonly transactions: readonly Uint8Array[];
  /** Bytes at the end of a file that are no transaction: the process died while it wrote, or the file was damaged. */
  readonly lostBytes: number;
};

/**
 * The transactions a pool has taken, in files, so that those still waiting are there after the next start. Each write is with
 * the operating system when `append` returns: it outlives the process, but not a power cut, as a block does.
 *
 * A file is a row of RLP items, as in go-ethereum's `transactions.rlp`: a legacy transaction is a list, any other one a string
 * of its network form. Its name counts up; a new file begins with what still waits, and then the old one goes.
 */
export class PoolJournal {
  readonly #directory: LogDirectory;
  readonly #waiting: () => Iterable<Uint8Array>;
  #number = 0;
  #file: LogFile | undefined;
  /** Bytes of `#file` that count; a write that failed may have left more. */
  #size = 0;
  #rewriteSize = 0;

  /** @param waiting the pool's transactions in network form */
  constructor(directory: LogDirectory, waiting: () => Iterable<Uint8Array>) {
    this.#directory = directory;
    this.#waiting = waiting;
  }

  /** Bytes in use. */
  get size(): number {
    return this.#size;
  }

  /** All that was kept before this start. Nothing is changed until `rewrite`. */
  read(): JournalContent {
    const transactions: Uint8Array[] = [];
    let lostBytes = 0;
    for (const name of this.#directory.list()) {
      this.#number = Math.max(this.#number, numberIn(name));
      const bytes = this.#contentOf(name);
      let at = 0;
      for (let item = itemAt(bytes, at); item !== undefined; item = itemAt(bytes, at)) {
        // A copy: the pool would hold on to the whole file otherwise.
        transactions.push(item.transaction.slice());
        at = item.end;
      }
      lostBytes += bytes.length - at;
    }
    return { transactions, lostBytes };
  }

  /**
   * Keeps a transaction.
   * @returns how to take it back while nothing else has been appended
   * @throws JournalWriteError: it was not kept
   */
  append(transaction: Uint8Array): () => void {
    if (this.#file === undefined || this.#size > this.#rewriteSize) this.#tryRewrite();
    const before = this.#size;
    const item = itemOf(transaction);
    try {
      this.#file!.write(item, before);
    } catch (cause) {
      throw writeError(cause);
    }
    this.#size += item.length;
    return () => {
      this.#size = before;
    };
  }

  /**
   * Begins a file of what waits now.
   * @throws JournalWriteError: what was kept before still is
   */
  rewrite(): void {
    const next = nameOf(++this.#number);
    let file: LogFile | undefined;
    try {
      file = this.#directory.open(next);
      file.truncate(0);
      let size = 0;
      for (const transaction of this.#waiting()) {
        const item = itemOf(transaction);
        file.write(item, size);
        size += item.length;
      }
      file.sync();
      this.#directory.sync();
      this.#file?.close();
      this.#file = file;
      this.#size = size;
      this.#rewriteSize = Math.max(REWRITE_BYTES_MIN, 2 * size);
    } catch (cause) {
      file?.close();
      if (file !== undefined) this.#directory.remove(next);
      throw writeError(cause);
    }
    for (const name of this.#directory.list()) if (name !== next) this.#directory.remove(name);
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  /** A journal that cannot be made smaller goes on as it is. */
  #tryRewrite(): void {
    try {
      this.rewrite();
    } catch (error) {
      if (this.#file === undefined) throw error;
      this.#rewriteSize = 2 * this.#size;
    }
  }

  #contentOf(name: string): Uint8Array {
    const file = this.#directory.open(name);
    try {
      const bytes = new Uint8Array(file.size());
      return bytes.subarray(0, file.read(bytes, 0));
    } finally {
      file.close();
    }
  }
}

function itemOf(transaction: Uint8Array): Uint8Array {
  return transaction[0]! >= 0xc0 ? transaction : encodeRlp(transaction);
}

/** The item that begins at `offset` and where it ends; undefined where none does. */
function itemAt(bytes: Uint8Array, offset: number) {
  try {
    if (bytes[offset]! >= 0xc0) {
      const end = rlpItemEnd(bytes, offset);
      return { transaction: bytes.subarray(offset, end), end };
    }
    const { item, end } = decodeRlpAt(bytes, offset);
    return { transaction: item as Uint8Array, end };
  } catch (error) {
    if (error instanceof InvalidRlpError) return undefined;
    throw error;
  }
}

function nameOf(number: number): string {
  return `${String(number).padStart(6, "0")}.rlp`;
}

function numberIn(name: string): number {
  return Number.parseInt(name, 10) || 0;
}

function writeError(cause: unknown): JournalWriteError {
  return new JournalWriteError(
    "the journal of the transaction pool cannot be written",
    {},
    { cause },
  );
}
