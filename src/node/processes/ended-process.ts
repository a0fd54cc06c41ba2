import { processStat } from "../../base/process-stat.ts";

/**
 * Whether the child process `pid` has ended, for a thread that is blocked: Node.js reaps the child and reports its end only in a later turn.
 * False on systems without /proc.
 */
export function hasEnded(pid: number): boolean {
  return processStat(pid)?.[0] === "Z";
}
