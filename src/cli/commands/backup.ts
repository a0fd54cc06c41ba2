import { escapeControls } from "../../base/telemetry/escape-controls.ts";
import { createBackup } from "../../node/backup/backup.ts";
import { restoreBackup } from "../../node/backup/restore.ts";
import type { CliContext } from "../context.ts";
import { createProgress } from "../progress.ts";

type ByteProgress = (done: number, total: number) => void;

/** Copies a home, whose node may be running, to the folder `to`. */
export async function backup(
  options: { readonly home: string; readonly to: string; readonly hasKeys: boolean },
  context: CliContext,
): Promise<void> {
  const { home, to: directory, hasKeys } = options;
  await withProgress("backup", context, (onProgress) =>
    createBackup({ home, directory, hasKeys, onProgress, now: context.now }),
  );
}

/** Makes a home of the backup in the folder `from`, or only reads the backup and compares it with its manifest. */
export async function restore(
  options: { readonly home: string; readonly from: string; readonly isCheck: boolean },
  context: CliContext,
): Promise<void> {
  const { home, from: directory, isCheck } = options;
  await withProgress(isCheck ? "check" : "restore", context, (onProgress) =>
    restoreBackup({ directory, home: isCheck ? undefined : home, onProgress, now: context.now }),
  );
}

/** Runs `task` and prints its result. */
async function withProgress(
  label: string,
  context: CliContext,
  task: (onProgress: ByteProgress) => Promise<object>,
): Promise<void> {
  const progress = createProgress(label, context);
  try {
    const result = await task((done, total) => progress.show({ done, total, unit: "bytes" }));
    progress.end();
    context.stdout.write(`${escapeControls(JSON.stringify(result))}\n`);
  } catch (error) {
    progress.end();
    throw error;
  }
}
