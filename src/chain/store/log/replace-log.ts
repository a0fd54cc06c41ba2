import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { syncDirectory } from "../../../storage/log-file.ts";

/** The block log of a data directory, or its place until the last step of a replacement. */
export const LOG_FOLDER = "log";

/** Folders of a data directory, relative to it. */
export type LogReplacement = {
  /** The complete log that becomes `LOG_FOLDER`. */
  readonly source: string;
  /** What the old log is renamed to; its presence without `LOG_FOLDER` says that a replacement was interrupted. */
  readonly backup: string;
};

/**
 * Puts the log in `source` in the place of the old one, which becomes the backup. The index is then worthless.
 * @param failPoint called by name between the renames, for tests that die there
 */
export function replaceLog(
  directory: string,
  { source, backup }: LogReplacement,
  failPoint: (name: string) => void = () => {},
): void {
  renameSync(join(directory, LOG_FOLDER), join(directory, backup));
  syncDirectory(directory);
  failPoint("replace:backup");
  renameSync(join(directory, source), join(directory, LOG_FOLDER));
  syncDirectory(directory);
}

/** Does the second rename where the last process died before it; true when it did. */
export function finishReplacement(directory: string, { source, backup }: LogReplacement): boolean {
  const [log, next] = [join(directory, LOG_FOLDER), join(directory, source)];
  if (existsSync(log) || !existsSync(next) || !existsSync(join(directory, backup))) return false;
  renameSync(next, log);
  syncDirectory(directory);
  return true;
}
