import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { lockFile } from "../../../storage/lock.ts";
import { IndexFiles } from "../index/index-files.ts";
import { LOG_FOLDER, type LogReplacement, replaceLog } from "./replace-log.ts";

/** Folder of the data directory in which a store from block 0 on is made, for a chain that begins at a later base. */
export const BACKFILL_FOLDER = "backfill";

export const BACKFILL: LogReplacement = {
  source: join(BACKFILL_FOLDER, LOG_FOLDER),
  backup: "log.pruned.backup",
};

/**
 * Puts the log of the closed store in `BACKFILL_FOLDER`, which has every block of the closed store in `directory`, in the place of that
 * one's. The next opening makes the index. A process that dies at any step leaves the old chain, or the new one.
 * @throws LockedError
 */
export function adoptBackfilledLog(
  directory: string,
  failPoint: (name: string) => void = () => {},
): void {
  const lock = lockFile(join(directory, "lock"));
  try {
    // Of the old log; it must not be opened over the new one.
    const files = new IndexFiles(directory);
    files.remove();
    files.beginRebuilding();
    failPoint("backfill:index");
    replaceLog(directory, BACKFILL, failPoint);
    failPoint("backfill:replaced");
  } finally {
    lock.release();
  }
  removeLeftovers(directory);
}

/** Removes what a finished backfill leaves, also where the process died before it could. */
export function removeLeftovers(directory: string): void {
  if (existsSync(join(directory, BACKFILL.source))) return;
  rmSync(join(directory, BACKFILL_FOLDER), { recursive: true, force: true });
  rmSync(join(directory, BACKFILL.backup), { recursive: true, force: true });
}
