import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, syncDirectory } from "../../../store/storage/make-folder.ts";
import { replaceFile } from "../../../store/storage/replace-file.ts";
import { jsonText } from "../json-file.ts";

/** Says that CometBFT's home comes from a backup; relative to it. */
const RESTORED_FILE = "config/restored.json";

/** Blocks without a signature of the key before that of a restored home signs, at least. */
export const RESTORED_GUARD_BLOCKS = 3;

/** When a home was restored, and the newest block of its backup. */
export type Restored = {
  /** ISO 8601 */
  readonly restoredAt: string;
  readonly height: number;
};

/**
 * Marks CometBFT's home as one whose key may have signed more than the home knows: the key waits until the network has shown how far, whatever
 * `cometbft.double-sign-check-height` says.
 */
export function markRestored(directory: string, restored: Restored): void {
  const path = join(directory, RESTORED_FILE);
  makeFolder(join(directory, "config"));
  replaceFile(path, jsonText(restored), 0o600);
}

export function isRestored(directory: string): boolean {
  return existsSync(join(directory, RESTORED_FILE));
}

/** The signing state covers everything the network knows now. */
export function forgetRestored(directory: string): void {
  if (!isRestored(directory)) return;
  rmSync(join(directory, RESTORED_FILE));
  syncDirectory(join(directory, "config"));
}
