import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { NodeError } from "../../../errors.ts";
import type { Kv } from "../../../storage/kv.ts";
import { openLmdbKv } from "../../../storage/lmdb-kv.ts";
import { lockFile } from "../../../storage/lock.ts";
import { syncDirectory } from "../../../storage/log-file.ts";
import { DATA_FILE, IndexFiles, type IndexProgress } from "./index-files.ts";

/** Is written first; its file takes the place of the index once it is whole. */
const NEW_FOLDER = "index.new";
/** Rows copied in one transaction. */
const ROWS = 5_000;

/** The index cannot be copied: a reindex makes it anew, and as small. */
export class IndexUnusableError extends NodeError {
  readonly code = "STORE_INDEX_UNUSABLE";
  constructor(details: { readonly fault: string }) {
    super(`index cannot be compacted (${details.fault}): "evmintd reindex" makes it anew`, details);
  }
}

export type Compaction = {
  /** Called with bytes of rows after each transaction; the total is the size of the file. */
  readonly onProgress?: IndexProgress;
  /** The copy stops, and nothing is changed, once this is false. */
  readonly mayContinue?: () => boolean;
  /** Called by name before each step, for tests that die there. */
  readonly failPoint?: (name: string) => void;
};

/**
 * Copies the index of a data directory that nobody has open into a file without free pages. Every row is verified on the way. A process that dies
 * at any step leaves the old index or the new one; undefined when it was stopped.
 * @throws LockedError, IndexUnusableError, KvCorruptionError
 */
export async function compactIndex(
  directory: string,
  { onProgress = () => {}, mayContinue = () => true, failPoint = () => {} }: Compaction = {},
): Promise<{ readonly bytesBefore: number; readonly bytesAfter: number } | undefined> {
  const lock = lockFile(join(directory, "lock"));
  const files = new IndexFiles(directory);
  const target = join(directory, NEW_FOLDER);
  try {
    const fault = files.findFault();
    if (fault !== undefined) throw new IndexUnusableError({ fault });
    const data = join(files.folder, DATA_FILE);
    const bytesBefore = statSync(data).size;
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { mode: 0o700 });
    if (!(await copyRows(files.folder, target, bytesBefore, { onProgress, mayContinue }))) {
      return undefined;
    }
    failPoint("compact:copied");
    syncFile(join(target, DATA_FILE));
    renameSync(join(target, DATA_FILE), data);
    syncDirectory(files.folder);
    failPoint("compact:renamed");
    files.closed();
    return { bytesBefore, bytesAfter: statSync(data).size };
  } finally {
    rmSync(target, { recursive: true, force: true });
    lock.release();
  }
}

async function copyRows(
  from: string,
  to: string,
  total: number,
  { onProgress, mayContinue }: Required<Pick<Compaction, "onProgress" | "mayContinue">>,
): Promise<boolean> {
  const source = openLmdbKv(from);
  const target = openLmdbKv(to);
  try {
    let done = 0;
    let next: Uint8Array | undefined = new Uint8Array(1);
    while (next !== undefined) {
      if (!mayContinue()) return false;
      const slice = copySlice(source, target, next);
      next = slice.next;
      done += slice.bytes;
      onProgress({ done, total });
      await setImmediate();
    }
    return true;
  } finally {
    target.close();
    source.close();
  }
}

/** Copies rows from key `from` on; the key after the last one, undefined at the end. */
function copySlice(
  source: Kv,
  target: Kv,
  from: Uint8Array,
): { readonly next: Uint8Array | undefined; readonly bytes: number } {
  const rows = Array.from(source.range({ from, limit: ROWS }));
  let bytes = 0;
  target.transaction((writer) => {
    for (const [key, value] of rows) {
      writer.put(key, value);
      bytes += key.length + value.length;
    }
  });
  const last = rows.length < ROWS ? undefined : rows.at(-1)![0];
  return { next: last && Buffer.concat([last, new Uint8Array(1)]), bytes };
}

function syncFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
