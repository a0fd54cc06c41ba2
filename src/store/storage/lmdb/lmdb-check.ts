import { closeSync, existsSync, fstatSync, openSync } from "node:fs";
import { availableParallelism } from "node:os";
import { CheckThread } from "./lmdb-check-thread.ts";
import { beginFileCheck, divideMainTree, finishFileCheck, mainTreeCheck } from "./lmdb-file-check.ts";
import { PAGE_SIZE } from "./lmdb-pages.ts";
import { LmdbFault } from "./lmdb-tree-check.ts";
import { addCounts, checkSubtrees, type SharedCheck, WORD } from "./shared-lmdb-check.ts";

const PROGRESS_PAGES = 25_000;
/** From so many bytes on a second thread takes part: it is started in the time that some 100 MB take. */
const SHARED_BYTES_MIN = 256 << 20;

export type LmdbCheckOptions = {
  /** Called about once in 100 MB. */
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  /** SHARED_BYTES_MIN if not given. */
  readonly sharedBytesMin?: number;
};

/**
 * The fault of the closed data file at `path` and its place; undefined for a sound or missing file.
 * Takes two seconds of CPU for each GB of pages; two threads share a large file.
 */
export function findLmdbFault(path: string, options: LmdbCheckOptions = {}): string | undefined {
  if (!existsSync(path)) return undefined;
  const file = openSync(path, "r");
  try {
    if (fstatSync(file).size > 0) checkFile(file, options);
    return undefined;
  } catch (error) {
    if (error instanceof LmdbFault) return error.message;
    throw error;
  } finally {
    closeSync(file);
  }
}

/** @throws LmdbFault */
function checkFile(file: number, { onProgress, sharedBytesMin = SHARED_BYTES_MIN }: LmdbCheckOptions): void {
  const { size } = fstatSync(file);
  const check = beginFileCheck(file);
  const { checked, meta } = check;
  const { depth } = meta.main;
  const words = new Int32Array(new SharedArrayBuffer(4 * WORD.count));
  const report = onProgress && progressOf(size, onProgress);
  const tree = mainTreeCheck(checked, depth, (pages) => {
    const done = Atomics.add(words, WORD.pages, pages) + pages;
    report?.(done);
  });
  const shared: SharedCheck = { checked, depth, subtrees: divideMainTree(tree, meta), words };
  const isShared = size >= sharedBytesMin && availableParallelism() > 1;
  const thread = isShared ? new CheckThread(shared) : undefined;
  try {
    checkSubtrees(tree, shared);
    finishFileCheck(check, addCounts(tree.counts, thread?.counts()));
  } finally {
    thread?.end();
  }
}

/** Says every 100 MB how far the check is. */
function progressOf(total: number, onProgress: NonNullable<LmdbCheckOptions["onProgress"]>): (pages: number) => void {
  let next = PROGRESS_PAGES;
  return (pages) => {
    if (pages < next) return;
    next = pages + PROGRESS_PAGES;
    onProgress({ done: Math.min(pages * PAGE_SIZE, total), total });
  };
}
