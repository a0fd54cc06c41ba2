import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { basename } from "node:path";

/**
 * Adds `nice` to the calling thread's, so that threads for which callers wait come first. Linux has a nice value per thread; elsewhere, and
 * without `/proc`, nothing changes.
 */
export function lowerThreadPriority(nice: number): void {
  const id = threadId();
  if (id !== undefined) setPriority(id, Math.min(19, getPriority(id) + nice));
}

/**
 * Adds `nice` to this process's: on Linux to that of each existing thread, from which later threads inherit it. Does nothing if the system
 * denies it.
 */
export function lowerProcessPriority(nice: number): void {
  try {
    const threads = process.platform === "linux" ? readdirSync("/proc/self/task").map(Number) : [process.pid];
    for (const id of threads) setPriority(id, Math.min(19, getPriority(id) + nice));
  } catch {
    // `/proc` is missing, a thread has just ended, or it is forbidden: the process keeps its priority.
  }
}

/** Names the calling thread for `top -H` and similar tools, which show 15 characters. Does nothing outside Linux. */
export function nameThread(name: string): void {
  if (process.platform !== "linux") return;
  try {
    writeFileSync("/proc/thread-self/comm", name);
  } catch {
    // `/proc` is missing or cannot be written: the thread stays unnamed.
  }
}

function threadId(): number | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return Number(basename(readlinkSync("/proc/thread-self")));
  } catch {
    return undefined;
  }
}
