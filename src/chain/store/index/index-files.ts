import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { NodeError } from "../../../base/errors.ts";
import { ifPresent } from "../../../store/storage/if-present.ts";
import type { Kv } from "../../../store/storage/kv.ts";
import { findLmdbFault } from "../../../store/storage/lmdb/lmdb-check.ts";
import { openLmdbKv } from "../../../store/storage/lmdb/lmdb-kv.ts";
import { bootId, lockFile } from "../../../store/storage/lock.ts";
import { syncDirectory, syncFile } from "../../../store/storage/make-folder.ts";
import { replaceFile } from "../../../store/storage/replace-file.ts";

export const INDEX_FOLDER = "index";
export const DATA_FILE = "data.mdb";
/** LMDB's table of readers, which means nothing once its processes are gone. */
const LMDB_LOCK_FILE = "lock.mdb";
/** Folder of a compact copy in the folder of the index, and so on its disk; its file takes the place of the index once it is whole. */
const COMPACTING = "compacting";
const STATE_FILE = "index.state";
/** Present from the removal of an index until a new one has every block of the log. */
const REBUILDING_FILE = "index.rebuilding";
/** Number of the newest block when every page was last read and found whole. Written without sync: an older one is as right. */
const CHECKED_FILE = "index.checked";
/** A node checks an index up to this size before it opens it, in a tenth of a second; a larger one that was closed, in the background. */
export const CHECKED_FIRST_BYTES_MAX = 64 << 20;

/**
 * The state of the closed index, in the file `index.state`:
 *
 *     clean FILE   closed with everything synced, in the file that `fileIdentity` calls so, after every page of it was checked
 *     unchecked    closed with everything synced before the check in the background had ended
 *     opening      a process began to open it and has not come back
 *     open BOOT    a process had it open, in this boot of the machine
 *     damaged      a process met damage in it
 */
type IndexState = "clean" | "opening" | "open" | "damaged";

export type IndexProgress = (progress: { readonly done: number; readonly total: number }) => void;

/** The fault of the index file in a closed data directory, and its place; undefined if none. */
export function findIndexFault(directory: string, onProgress?: IndexProgress): string | undefined {
  return findLmdbFault(join(directory, INDEX_FOLDER, DATA_FILE), { ...(onProgress && { onProgress }) });
}

/** Removes the files of an index from a folder outside its data directory, which may have files of others. */
export function removeIndexFiles(folder: string): void {
  for (const name of [DATA_FILE, `${DATA_FILE}.new`, LMDB_LOCK_FILE, COMPACTING]) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** The files of the index in a data directory, and whether they can be trusted. */
export class IndexFiles {
  readonly #directory: string;
  readonly #checkedFirstBytesMax: number;
  #isUnchecked = false;
  #isDamaged = false;

  /** @param checkedFirstBytesMax an index of any size is checked first if not given */
  constructor(directory: string, checkedFirstBytesMax = Infinity) {
    this.#directory = directory;
    this.#checkedFirstBytesMax = checkedFirstBytesMax;
  }

  get folder(): string {
    return join(this.#directory, INDEX_FOLDER);
  }

  get dataFile(): string {
    return join(this.folder, DATA_FILE);
  }

  /** True where `findFault` found nothing without reading every page: that is to be done once the index is open. */
  get isUnchecked(): boolean {
    return this.#isUnchecked;
  }

  /**
   * Why the index cannot be used; undefined when it can. It is read without LMDB, which ends the process on a
   * damaged file.
   *
   * The index is not synced as it is written. What a killed process wrote is still in the system's
   * cache, but when the system itself went down any page may be old: since it was opened the machine
   * must not have been started anew. Where starts have no name, a kill counts as a power cut.
   *
   * A large index that was closed, and neither written nor copied since, is not read if its owner checks it in the background: only a fault of the disk
   * can have changed it.
   */
  findFault(onProgress?: IndexProgress): string | undefined {
    if (!existsSync(this.dataFile)) return "there is none";
    const state = this.#state();
    if (state === undefined) return "it was written before a crash of the machine";
    this.#isUnchecked = state === "clean" && statSync(this.dataFile).size > this.#checkedFirstBytesMax;
    if (this.#isUnchecked) return undefined;
    const damage = this.#damage(state, onProgress);
    this.#isDamaged = damage !== undefined;
    return damage;
  }

  #damage(state: IndexState, onProgress?: IndexProgress): string | undefined {
    if (state === "opening") return "the last process that opened it did not survive";
    if (state === "damaged") return "the last process met damage in it";
    return findIndexFault(this.#directory, onProgress);
  }

  /** The first block that may have been built on damage found at this start; undefined if there was none, or if it is unknown. */
  get suspectFrom(): number | undefined {
    const text = this.#isDamaged ? ifPresent(() => readFileSync(join(this.#directory, CHECKED_FILE), "latin1")) : "";
    return text && /^\d+$/.test(text) ? Number(text) + 1 : undefined;
  }

  /** True when an earlier process began to rebuild the index and did not get to the end of the log. */
  isRebuilding(): boolean {
    return existsSync(join(this.#directory, REBUILDING_FILE));
  }

  /** After an index was opened and has every block of the log. */
  rebuilt(): void {
    rmSync(join(this.#directory, REBUILDING_FILE), { force: true });
  }

  /** Before a new index is begun. A marker that a power cut loses costs a rebuild from the front. */
  beginRebuilding(): void {
    writeFileSync(join(this.#directory, REBUILDING_FILE), "");
  }

  remove(): void {
    const place = join(realpathSync(this.#directory), INDEX_FOLDER);
    const folder = ifPresent(() => realpathSync(place)) ?? place;
    if (folder === place) rmSync(place, { recursive: true, force: true });
    else removeIndexFiles(folder);
    this.#isUnchecked = false;
  }

  /** Before LMDB opens it: should the process not survive that, the next one makes the index anew. */
  beginOpening(): void {
    this.#writeState("opening");
    rmSync(join(this.folder, LMDB_LOCK_FILE), { force: true });
  }

  opened(): void {
    this.#writeState(`open ${bootId() ?? ""}`);
  }

  damaged(): void {
    this.#writeState("damaged");
  }

  /** After every page was read, or the index was made anew, with this newest block. */
  checked(head: number | undefined): void {
    this.#isUnchecked = false;
    if (head !== undefined) writeFileSync(join(this.#directory, CHECKED_FILE), String(head));
  }

  /** After damage was met in the index that is open. */
  noteDamage(): void {
    this.#isDamaged = true;
  }

  /** After it was closed and synced. */
  closed(): void {
    this.#writeState(this.#isUnchecked ? UNCHECKED : `${CLEAN}${fileIdentity(this.dataFile)}`);
  }

  #state(): IndexState | undefined {
    let text: string;
    try {
      text = readFileSync(join(this.#directory, STATE_FILE), "latin1");
    } catch {
      return undefined;
    }
    if (text === "opening" || text === "damaged") return text;
    if (text.startsWith(CLEAN)) return text === `${CLEAN}${fileIdentity(this.dataFile)}` ? "clean" : "open";
    // "clean" is of an older version: which file it was is not known.
    if (text === UNCHECKED || text === "clean") return "open";
    const boot = bootId();
    return boot !== undefined && text === `open ${boot}` ? "open" : undefined;
  }

  /** Durable before it returns: an index must not be written to while this still says clean. */
  #writeState(state: string): void {
    replaceFile(join(this.#directory, STATE_FILE), state, 0o600);
  }
}

const CLEAN = "clean ";
const UNCHECKED = "unchecked";

/**
 * Differs once a file was copied, replaced, cut or written to: its number, size and time of the last change, in ms. The time of its status is no part of
 * it, which a change of its owner moves.
 */
function fileIdentity(path: string): string {
  const { ino, size, mtimeMs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeMs}`;
}

/** Rows copied in one transaction. */
const ROWS = 5_000;

/** The index cannot be compacted; a reindex rebuilds it just as small. */
class IndexUnusableError extends NodeError {
  readonly code = "STORE_INDEX_UNUSABLE";
  constructor(details: { readonly fault: string }) {
    super(`index cannot be compacted (${details.fault}): "evmintd reindex" rebuilds it`, details);
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
 * Copies the index of a closed data directory into a file without free pages, and verifies every row on the way. A process that dies
 * at any step leaves either the old index or the new one. Undefined if it was stopped.
 * @throws LockedError, IndexUnusableError, KvCorruptionError
 */
export async function compactIndex(
  directory: string,
  { onProgress = () => {}, mayContinue = () => true, failPoint = () => {} }: Compaction = {},
): Promise<{ readonly bytesBefore: number; readonly bytesAfter: number } | undefined> {
  const lock = lockFile(join(directory, "lock"));
  const files = new IndexFiles(directory);
  const target = join(files.folder, COMPACTING);
  try {
    const fault = files.findFault();
    if (fault !== undefined) throw new IndexUnusableError({ fault });
    const data = files.dataFile;
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
  target.transaction((writer) => {
    for (const [key, value] of rows) writer.put(key, value);
  });
  const bytes = rows.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  const last = rows.length < ROWS ? undefined : rows.at(-1)![0];
  return { next: last && Buffer.concat([last, new Uint8Array(1)]), bytes };
}
