import { readFileSync } from "node:fs";

/**
 * Fields of /proc/PID/stat (proc_pid_stat(5)) after the command's name, which may contain spaces and parentheses: the state first, then the
 * parent. Undefined if the process does not exist, and on systems without /proc.
 */
export function processStat(pid: number): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}
