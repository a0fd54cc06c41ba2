import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { basename } from "node:path";

/**
 * Adds `nice` to that of the calling thread, so that threads callers wait for come first. Each thread has its own on Linux; elsewhere, and where
 * `/proc` is missing, nothing changes.
 */
export function lowerThreadPriority(nice: number): void {
  const id = threadId();
  if (id !== undefined) setPriority(id, Math.min(19, getPriority(id) + nice));
}

/**
 * Adds `nice` to that of this process: on Linux to that of each thread there is, whose later ones have it too. Where the system does not let
 * this process, nothing changes.
 */
export function lowerProcessPriority(nice: number): void {
  try {
    const threads = process.platform === "linux" ? readdirSync("/proc/self/task").map(Number) : [process.pid];
    for (const id of threads) setPriority(id, Math.min(19, getPriority(id) + nice));
  } catch {
    // `/proc` is missing, a thread has just ended, or it is forbidden: the process works at the priority it has.
  }
}

/** Names the calling thread for `top -H` and its like, which show 15 characters. Elsewhere than on Linux nothing changes. */
export function nameThread(name: string): void {
  if (process.platform !== "linux") return;
  try {
    writeFileSync("/proc/thread-self/comm", name);
  } catch {
    // `/proc` is missing or cannot be written: the thread works without a name.
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
