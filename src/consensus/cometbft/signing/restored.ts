import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, syncDirectory } from "../../../store/storage/make-folder.ts";
import { replaceFile } from "../../../store/storage/replace-file.ts";
import { jsonText } from "../json-file.ts";

/** Marks a CometBFT home from a backup; relative to it. */
const RESTORED_FILE = "config/restored.json";

/** Minimum number of blocks without a signature of the key before a restored home signs. */
export const RESTORED_GUARD_BLOCKS = 3;

/** When a home was restored, and the newest block of its backup. */
export type Restored = {
  /** ISO 8601 */
  readonly restoredAt: string;
  readonly height: number;
};

/**
 * Marks CometBFT's home as one whose key may have signed more than the home knows: the key waits until the network has shown how far, whatever
 * `cometbft.double-sign-check-height` is.
 */
export function markRestored(directory: string, restored: Restored): void {
  const path = join(directory, RESTORED_FILE);
  makeFolder(join(directory, "config"));
  replaceFile(path, jsonText(restored), 0o600);
}

export function isRestored(directory: string): boolean {
  return existsSync(join(directory, RESTORED_FILE));
}

/** Removes the mark: the signing state now covers everything the network knows. */
export function forgetRestored(directory: string): void {
  if (!isRestored(directory)) return;
  rmSync(join(directory, RESTORED_FILE));
  syncDirectory(join(directory, "config"));
}
