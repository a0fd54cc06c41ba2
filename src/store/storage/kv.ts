import { NodeError } from "../../base/errors.ts";

/** One row. Both arrays belong to the receiver: no store writes to them again. */
export type KvRow = readonly [key: Uint8Array, value: Uint8Array];

/** Which rows a scan visits, in byte order of the keys; without a bound it runs to the end. */
export type KvRange = {
  /** The lowest key visited. */
  readonly from?: Uint8Array;
  /** The first key beyond the range. */
  readonly to?: Uint8Array;
  /** From the highest key to the lowest. */
  readonly reverse?: boolean;
  readonly limit?: number;
};

/**
 * Reads of an ordered key-value store. Keys are 1 to 512 bytes; an empty value is a value.
 * Every method throws KvDamagedError or KvCorruptionError where the files are not what was written.
 */
export interface KvReader {
  get(key: Uint8Array): Uint8Array | undefined;
  /** As `get`, in half the time: the bytes are the store's own, and hold until it is called again. */
  view(key: Uint8Array): Uint8Array | undefined;
  /** Rows of the range. A scan must be finished before the next write. */
  range(range: KvRange): Iterable<KvRow>;
}

/** Writes of one transaction, seen at once by its own reads. */
export interface KvWriter extends KvReader {
  put(key: Uint8Array, value: Uint8Array): void;
  /** Nothing happens when there is no such key. */
  remove(key: Uint8Array): void;
}

/** Goes back to earlier states, in a time that depends on the number of rows written since alone. */
export interface KvUndo {
  /** Names the state after the last transaction. */
  mark(): number;
  /** False where too much was written since. */
  canUndoTo(mark: number): boolean;
  /** Undoes every transaction since `mark`, which `canUndoTo` accepts. Later marks are void. */
  undoTo(mark: number): void;
}

/** Small transactions that wait in memory, and are undone or written together. A process that dies loses the newest of them. */
export interface KvBuffer {
  /** As `Kv.transaction`, in memory. Where it throws, nothing has changed. */
  transaction<T>(work: (writer: KvWriter) => T): T;
  /** True when some of what waits should be written. */
  isFull(): boolean;
  /** Writes the oldest of what waits, a slice of it; false where less than that waits. */
  writeSome(): boolean;
  writeAll(): void;
}

/** Receives rows with ascending keys. */
export type SortedRows = Pick<KvWriter, "put">;

/** Receives all rows of a store. */
export interface KvLoad {
  /** Begins a run of sorted rows; the keys of two runs must not interleave. Runs may be written beside each other. */
  run(): SortedRows;
}

/** Pages of a file as the last transaction left them. */
export interface PinnedPages {
  /** Lets the store use them again where they are no longer needed. Closing the store does it too. */
  release(): void;
}

/** A synchronous, ordered key-value store with one writer. */
export interface Kv extends KvReader {
  /** Undefined where the store cannot go back. */
  readonly undo?: KvUndo | undefined;
  /** Undefined where a transaction costs little. */
  readonly buffer?: KvBuffer;
  /**
   * Runs `work` in one transaction: all of its writes hold when it returns, none when it throws. `work` runs a second time where the store
   * could not commit it, so it changes nothing but rows: what is in memory follows afterwards.
   */
  transaction<T>(work: (writer: KvWriter) => T): T;
  /**
   * Replaces all rows by those that `fill` writes, in a fraction of the time of transactions. Must not run while another thread reads.
   * If `fill` throws or the process dies, the old rows remain. Undefined for a store without a bulk load.
   */
  load?(fill: (rows: KvLoad) => void): void;
  /**
   * Until they are released no page of the file as it is now is used again: the file grows by what is written meanwhile. Undefined where
   * the store has no file.
   */
  pinPages?(): PinnedPages;
  /** Returns when everything written is on disk to stay. */
  sync(): void;
  /** Syncs and lets go of the files. Nothing may be called afterwards. */
  close(): void;
}

/** A row's bytes differ from what was written. */
export class KvCorruptionError extends NodeError {
  readonly code = "STORE_CORRUPT_ROW";
  constructor(details: { readonly key: string }) {
    super(`index row ${details.key} is damaged`, details);
  }
}

/** A row is missing although the block log or another row refers to it. */
export class KvMissingRowError extends NodeError {
  readonly code = "STORE_MISSING_ROW";
  constructor(details: { readonly key: string }) {
    super(`index row ${details.key} is missing`, details);
  }
}

/** Makes the error for the row of `key`, which must be there, and notes that the index is damaged. */
export type MissingRow = (key: Uint8Array) => KvMissingRowError;

/** The files of the store have unexpected content. */
export class KvDamagedError extends NodeError {
  readonly code = "STORE_CORRUPT_INDEX";
}

/** The range of all keys that begin with `prefix`, which must not be all 0xff. */
export function prefixRange(prefix: Uint8Array): { from: Uint8Array; to: Uint8Array } {
  let last = prefix.length - 1;
  while (prefix[last] === 0xff) last--;
  const to = prefix.slice(0, last + 1);
  to[last] = to[last]! + 1;
  return { from: prefix, to };
}
