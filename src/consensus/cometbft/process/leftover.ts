import { readdirSync, readFileSync, statSync } from "node:fs";
import type { Logger } from "../../../base/telemetry/logger.ts";

/**
 * Kills every CometBFT that runs on `directory`. This node holds the home's lock and has not started CometBFT, so such a process belongs to a
 * killed node. CometBFT waits forever if it loses its application while a block is committed, and its lock on its tables keeps the next one from
 * starting. Searches `/proc`, and finds nothing on systems without it.
 */
export function endLeftoverEngines(directory: string, log: Logger): void {
  for (const pid of leftoverEngines(directory)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ESRCH") continue;
      throw error;
    }
    log.warn("killed a CometBFT process left by an earlier run of the node", { pid });
  }
}

function leftoverEngines(directory: string): readonly number[] {
  return processes().filter((pid) => isEngine(pid) && isWorkingIn(pid, directory));
}

function processes(): readonly number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Whether the process has the arguments of `startEngineProcess`. */
function isEngine(pid: number): boolean {
  try {
    // Arguments are zero-terminated; a moved home has another path.
    const [home, option, command] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1).reverse();
    return command === "start" && option === "--home" && home !== undefined;
  } catch {
    return false;
  }
}

/** Whether it is the same directory, not only the same path, as in a container. */
function isWorkingIn(pid: number, directory: string): boolean {
  try {
    const own = statSync(directory);
    const other = statSync(`/proc/${pid}/cwd`);
    return own.ino === other.ino && own.dev === other.dev;
  } catch {
    return false;
  }
}
