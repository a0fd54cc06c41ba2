import { readFileSync } from "node:fs";

/**
 * Whether the child process `pid` has ended, for a thread that is blocked: Node.js reaps the child and reports its end only in a later turn.
 * False on systems without /proc.
 */
export function hasEnded(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The state follows the command's name, which may hold spaces and brackets.
    return stat.startsWith("Z", stat.lastIndexOf(")") + 2);
  } catch {
    return false;
  }
}
