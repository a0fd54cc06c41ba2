/** Locks of files between the processes of a simulated machine. */
import { LockedError } from "../../../src/store/storage/lock-error.ts";
import { currentProcess } from "../kernel/current.ts";

export type FileLock = { release(): void };

export function lockFile(path: string): FileLock {
  const process = currentProcess();
  const { locks } = process.machine;
  const holder = locks.get(path);
  if (holder !== undefined) throw new LockedError({ path, pid: holder.id });
  locks.set(path, process);
  return { release: () => void (locks.get(path) === process && locks.delete(path)) };
}

/** Another one after each power cut. */
export function bootId(): string | undefined {
  const { machine } = currentProcess();
  return `${machine.name}-${machine.boots}`;
}
