import { closeSync, existsSync, fdatasyncSync, openSync, readSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Database, RangeOptions } from "lmdb";
import { InvariantError, invariant, NodeError } from "../../../base/errors.ts";
import { hexDigits } from "../../../base/primitives/hex.ts";
import { nativeCall } from "../../../base/threads/native-calls.ts";
import {
  type Kv,
  KvCorruptionError,
  KvDamagedError,
  type KvLoad,
  type KvRange,
  type KvRow,
  type KvWriter,
  type PinnedPages,
} from "../kv.ts";
import { LmdbBuild } from "./lmdb-build.ts";
import { LmdbCommits } from "./lmdb-commits.ts";
import { requireLmdb } from "./lmdb-package.ts";
import { CHECKSUM_LENGTH, isRemoval, verifiedValue, writeChecksum, writeRemoval } from "./lmdb-row.ts";

/**
 * A store in the LMDB environment in `directory`, made when missing.
 *
 * Commits are not synced: they survive a killed process, since the pages belong to the system's
 * cache, but not a power cut. What is stored here must be derivable from elsewhere.
 *
 * A stored value ends in a checksum (lmdb-row.ts). With a writable map a removed key leaves a marked row until `compact` copies the others:
 * a transaction that empties a page would abort the process (kriszyp/lmdb-js#212).
 * @param onDamage called with each error that says the files are damaged, before it is thrown
 */
export function openLmdbKv(
  directory: string,
  onDamage?: (error: Error) => void,
  { writableMap = true }: LmdbOptions = {},
): Kv {
  return new LmdbKv(directory, { noSync: true, useWritemap: writableMap }, onDamage);
}

export type LmdbOptions = {
  /**
   * Commits write to mapped pages, which takes a fifth to a third less time. Removed rows keep their place: it is off where rows are
   * removed all the time. True if not given.
   */
  readonly writableMap?: boolean;
};

/** The same for what cannot be derived: every commit is on disk to stay, a power cut takes none and damages nothing. */
export function openDurableLmdbKv(directory: string): Kv {
  return new LmdbKv(directory, { noSync: false, useWritemap: false });
}

/** A store that another thread of this process has open. It cannot be written to. */
export type KvFollower = Kv & {
  /** Later reads see everything that was committed before this call. */
  refresh(): void;
  /** Rows read so far: while it stays the same, nothing was read of what the writer may have changed. */
  readonly reads: number;
};

/** The index in `directory` for another thread than the one that called `openLmdbKv`. */
export function openLmdbFollower(directory: string): KvFollower {
  return new LmdbKv(directory, { noSync: true, useWritemap: true, readOnly: true });
}

/** LMDB's native code, an optional npm dependency, is not installed. */
export class NativeStoreMissingError extends NodeError {
  readonly code = "STORE_NATIVE_MISSING";
  constructor(cause: unknown) {
    const name = `@lmdb/lmdb-${process.platform}-${process.arch}`;
    super(`package ${name} is missing: reinstall with optional dependencies`, { name }, { cause });
  }
}

/** When it is needed, so that a program without it can do the rest. @throws NativeStoreMissingError */
function loadLmdb(): typeof import("lmdb") {
  try {
    return nativeCall(requireLmdb);
  } catch (cause) {
    throw new NativeStoreMissingError(cause);
  }
}

/**
 * Numbers of free pages that LMDB reads ahead of their use, and keeps between transactions. Inserting one into LMDB's sorted list moves half
 * of the list. With its defaults (50,000 and 75,000) this took a seventh of the time on a million accounts, and 12 seconds in the
 * transaction after a merge that had freed 100,000 pages. A slice of a merge uses about a thousand.
 */
const FREE_LIST: object = { maxFreeSpaceToLoad: 1_500, maxFreeSpaceToRetain: 8_000 };

/** Longest value with its own view: two versions of a trie node. Codes and the logs of a block can be longer. */
const VIEW_LENGTH_MAX = 2_048;

class LmdbKv implements Kv, KvWriter {
  readonly #directory: string;
  readonly #options: object;
  #db: Database<Buffer, Uint8Array>;
  /** Of the one that writes. */
  #commits: LmdbCommits | undefined;
  readonly #dataFile: string;
  readonly #onDamage: (error: Error) => void;
  readonly #isReadOnly: boolean;
  /** Rows of removed keys stay, and say that they were removed. */
  readonly #marksRemovals: boolean;
  /** The value that is being written, with its checksum. */
  readonly #scratch = Buffer.allocUnsafeSlow(VIEW_LENGTH_MAX);
  /** By length, views of the first bytes of `#scratch`: creating one for each row takes as long as its checksum. */
  readonly #views: Buffer[] = [];
  readonly #pinned = new Set<PinnedPages>();
  #writing = false;
  #closed = false;
  #reads = 0;

  constructor(
    directory: string,
    durability: {
      readonly noSync: boolean;
      readonly useWritemap: boolean;
      readonly readOnly?: boolean;
    },
    onDamage: (error: Error) => void = () => {},
  ) {
    this.#onDamage = onDamage;
    this.#isReadOnly = durability.readOnly === true;
    this.#marksRemovals = durability.useWritemap;
    this.#directory = directory;
    this.#options = durability;
    this.#dataFile = join(directory, "data.mdb");
    assertIsLmdb(this.#dataFile);
    this.#db = this.#open();
  }

  #open(): Database<Buffer, Uint8Array> {
    const { open } = loadLmdb();
    const options = {
      path: this.#directory,
      noSubdir: false,
      ...this.#options,
      ...FREE_LIST,
      keyEncoding: "binary" as const,
      encoding: "binary" as const,
    };
    const db = this.#translatingErrors(() => nativeCall(() => open<Buffer, Uint8Array>(options)));
    if (!this.#isReadOnly) this.#commits = new LmdbCommits(this.#directory);
    return db;
  }

  get reads(): number {
    return this.#reads;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.view(key)?.slice();
  }

  view(key: Uint8Array): Uint8Array | undefined {
    if (this.#closed) throw new InvariantError("the store must be open");
    // A buffer that is used again and again: its `length` is that of the value, its `byteLength` is not.
    let stored: Buffer | undefined;
    this.#reads++;
    try {
      stored = nativeCall(() => this.#db.getBinaryFast(key));
    } catch (error) {
      throw this.#translated(error);
    }
    return stored === undefined || isRemoval(key, stored) ? undefined : this.#verified(key, stored);
  }

  *range({ from, to, reverse = false, limit = Infinity }: KvRange): Generator<KvRow> {
    invariant(!this.#closed, "the store must be open");
    // lmdb-js asks whether an option is there, not what it is.
    const options: RangeOptions = { reverse };
    const [start, end] = reverse ? [to, from] : [from, to];
    if (start !== undefined) options.start = start;
    if (end !== undefined) options.end = end;
    // LMDB's bounds follow the direction: going down, `start` is the highest key.
    if (reverse) {
      options.exclusiveStart = true;
      options.inclusiveEnd = true;
    }
    this.#reads++;
    const rows = nativeCall(() => this.#db.getRange(options)[Symbol.iterator]());
    try {
      for (let left = limit; left > 0; ) {
        const next = this.#translatingErrors(() => nativeCall(() => rows.next()));
        if (next.done) return;
        const { key, value } = next.value;
        if (isRemoval(key, value)) continue;
        left--;
        yield [key, this.#verified(key, value)];
      }
    } finally {
      nativeCall(() => rows.return?.());
    }
  }

  transaction<T>(work: (writer: KvWriter) => T): T {
    invariant(!this.#closed, "the store must be open");
    invariant(!this.#writing, "transactions must not be nested");
    const commits = this.#commits;
    invariant(commits !== undefined, "a follower must not write");
    this.#writing = true;
    const begin = () =>
      this.#db.transactionSync(() => {
        commits.assertFollowsLast(this.#db.getWriteTxnId());
        return work(this);
      });
    try {
      return this.#translatingErrors(() => commitAgain(() => commits.runAfterLast(begin)));
    } finally {
      this.#writing = false;
    }
  }

  load(fill: (rows: KvLoad) => void): void {
    invariant(!this.#closed && !this.#writing && !this.#isReadOnly, "the store must be idle");
    const path = `${this.#dataFile}.new`;
    const build = new LmdbBuild(path);
    try {
      fill(build);
      build.finish();
    } catch (error) {
      build.abort();
      rmSync(path, { force: true });
      throw error;
    }
    this.#releasePages();
    // With nothing asynchronous under way the environment is closed before this returns.
    void this.#db.close();
    this.#commits?.close();
    renameSync(path, this.#dataFile);
    this.#db = this.#open();
  }

  put(key: Uint8Array, value: Uint8Array): void {
    invariant(this.#writing, "writes must happen inside a transaction");
    const length = value.length + CHECKSUM_LENGTH;
    // LMDB copies it before putSync returns.
    const stored = this.#scratchOf(length);
    stored.set(value);
    writeChecksum(key, value, stored, value.length);
    this.#db.putSync(key, stored);
  }

  #scratchOf(length: number): Buffer {
    if (length > VIEW_LENGTH_MAX) return Buffer.allocUnsafe(length);
    this.#views[length] ??= this.#scratch.subarray(0, length);
    return this.#views[length];
  }

  remove(key: Uint8Array): void {
    invariant(this.#writing, "writes must happen inside a transaction");
    if (!this.#marksRemovals) {
      this.#db.removeSync(key);
      return;
    }
    const stored = this.#db.getBinaryFast(key);
    if (stored === undefined || isRemoval(key, stored)) return;
    const removal = this.#scratchOf(CHECKSUM_LENGTH);
    writeRemoval(key, removal);
    this.#db.putSync(key, removal);
  }

  pinPages(): PinnedPages {
    invariant(!this.#closed && !this.#writing, "the store must be idle");
    const transaction = nativeCall(() => this.#db.useReadTransaction());
    // Later reads begin another one.
    this.refresh();
    const pinned: PinnedPages = {
      release: () => {
        if (this.#pinned.delete(pinned)) nativeCall(() => transaction.done());
      },
    };
    this.#pinned.add(pinned);
    return pinned;
  }

  #releasePages(): void {
    for (const pinned of this.#pinned) pinned.release();
  }

  #translatingErrors<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#translated(error);
    }
  }

  #translated(error: unknown): unknown {
    if (!DAMAGE_CODES.has((error as { code?: unknown }).code)) return error;
    return this.#damage(new KvDamagedError("index files are damaged", {}, { cause: error }));
  }

  #verified(key: Uint8Array, stored: Uint8Array): Uint8Array {
    const value = verifiedValue(key, stored);
    if (value !== undefined) return value;
    throw this.#damage(new KvCorruptionError({ key: hexDigits(key) }));
  }

  #damage<E extends Error>(error: E): E {
    this.#onDamage(error);
    return error;
  }

  refresh(): void {
    nativeCall(() => this.#db.resetReadTxn());
  }

  /** The writable map shares its pages with the file, so a sync of the file writes what commits left in it. */
  sync(): void {
    const file = openSync(this.#dataFile, "r+");
    try {
      fdatasyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  close(): void {
    if (this.#closed) return;
    if (!this.#isReadOnly) this.sync();
    this.#releasePages();
    this.#closed = true;
    // With nothing asynchronous under way the environment is closed before this returns.
    nativeCall(() => void this.#db.close());
    this.#commits?.close();
  }
}

/** LMDB's own codes for files that are not what they should be: page not found … invalid file. */
const DAMAGE_CODES: ReadonlySet<unknown> = new Set([-30797, -30796, -30795, -30794, -30793, -30786]);

/** First bytes of an LMDB file: page header of 16 or 24 bytes, then its magic number. */
const MAGIC = Buffer.from([0xde, 0xc0, 0xef, 0xbe]);
const MAGIC_OFFSETS = [16, 24];

/** LMDB crashes on a foreign file instead of reporting it. A missing or empty file is new. */
function assertIsLmdb(path: string): void {
  if (!existsSync(path)) return;
  const file = openSync(path, "r");
  try {
    const head = Buffer.alloc(32);
    if (readSync(file, head, 0, head.length, 0) === 0) return;
    const isLmdb = MAGIC_OFFSETS.some((at) => head.subarray(at, at + MAGIC.length).equals(MAGIC));
    if (!isLmdb) throw new KvDamagedError("index is not an LMDB file", { path });
  } finally {
    closeSync(file);
  }
}

/** LMDB's code of a transaction that it has aborted. */
const BAD_TRANSACTION = -30782;

/**
 * Commits a transaction a second time if LMDB aborted the first. If the list of free pages needs no change and has no row yet, lmdb-js 3
 * reads the length of this row from uninitialised memory and takes 0 for a fault. The next transaction reads the list again.
 */
export function commitAgain<T>(commit: () => T): T {
  try {
    return commit();
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== BAD_TRANSACTION) throw error;
    return commit();
  }
}
