import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileSums } from "../../../storage/file-sums.ts";
import { findLmdbFault } from "../../../storage/lmdb-check.ts";
import { isLmdbRowIntact } from "../../../storage/lmdb-row.ts";
import { bootId } from "../../../storage/lock.ts";
import { replaceFile } from "../../../storage/replace-file.ts";

export const INDEX_FOLDER = "index";
export const DATA_FILE = "data.mdb";
/** LMDB's table of readers, which means nothing once its processes are gone. */
const LMDB_LOCK_FILE = "lock.mdb";
const STATE_FILE = "index.state";
const SUMS_FILE = "index.sums";
/** Present from the removal of an index until a new one has every block of the log. */
const REBUILDING_FILE = "index.rebuilding";

/**
 * What is known of the index while nobody has it open, in the file `index.state`:
 *
 *     clean        closed with everything synced; `index.sums` has the checksums of its file
 *     opening      a process began to open it and has not come back
 *     open BOOT    a process had it open, in this boot of the machine
 *     damaged      a process met damage in it
 */
type IndexState = "clean" | "opening" | "open" | "damaged";

export type IndexProgress = (progress: { readonly done: number; readonly total: number }) => void;

/** What is wrong in the file of the index in a data directory that nobody has open, and where; undefined when nothing is. */
export function findIndexFault(directory: string, onProgress?: IndexProgress): string | undefined {
  return findLmdbFault(join(directory, INDEX_FOLDER, DATA_FILE), {
    isRowIntact: isLmdbRowIntact,
    ...(onProgress && { onProgress }),
  });
}

/** The files of the index in a data directory, and whether they can be trusted. */
export class IndexFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  get folder(): string {
    return join(this.#directory, INDEX_FOLDER);
  }

  /**
   * Why the index cannot be used; undefined when it can. It is read without LMDB, which ends the process on a
   * damaged file.
   *
   * The index is not synced as it is written. What a killed process wrote is still in the system's
   * cache, but when the system itself went down any page may be old: since it was opened the machine
   * must not have been started anew. Where starts have no name, a kill counts as a power cut.
   */
  findFault(onProgress?: IndexProgress): string | undefined {
    const data = join(this.folder, DATA_FILE);
    if (!existsSync(data)) return "there is none";
    const state = this.#state();
    if (state === undefined) return "it was written before the machine went down";
    if (state === "opening") return "the last process that opened it did not survive";
    if (state === "damaged") return "the last process met damage in it";
    if (state === "clean" && this.#matchesSums(data)) return undefined;
    return findIndexFault(this.#directory, onProgress);
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
    rmSync(this.folder, { recursive: true, force: true });
    rmSync(join(this.#directory, SUMS_FILE), { force: true });
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

  /** After it was closed and synced. */
  closed(): void {
    writeFileSync(join(this.#directory, SUMS_FILE), fileSums(join(this.folder, DATA_FILE)));
    this.#writeState("clean");
  }

  #state(): IndexState | undefined {
    let text: string;
    try {
      text = readFileSync(join(this.#directory, STATE_FILE), "latin1");
    } catch {
      return undefined;
    }
    if (text === "clean" || text === "opening" || text === "damaged") return text;
    const boot = bootId();
    return boot !== undefined && text === `open ${boot}` ? "open" : undefined;
  }

  #matchesSums(data: string): boolean {
    let sums: Buffer;
    try {
      sums = readFileSync(join(this.#directory, SUMS_FILE));
    } catch {
      return false;
    }
    return sums.equals(fileSums(data));
  }

  /** Durable before it returns: an index must not be written to while this still says clean. */
  #writeState(state: string): void {
    replaceFile(join(this.#directory, STATE_FILE), state, 0o600);
  }
}
