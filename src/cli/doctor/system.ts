import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { totalmem } from "node:os";

/** The machine and this installation, as the checks see them; a test brings its own. */
export type System = {
  readonly nodeVersion: string;
  /** Bytes for programs like this one: of the machine, or of its control group. */
  readonly memoryBytes: number;
  /** Files and sockets this process may have open; undefined where the system does not show it. */
  readonly openFilesMax: number | undefined;
  /** Whether an optional package can be loaded. */
  hasPackage(name: string): boolean;
};

export function thisSystem(): System {
  const load = createRequire(import.meta.url);
  return {
    nodeVersion: process.version,
    memoryBytes: Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()),
    openFilesMax: openFilesMax(),
    hasPackage(name) {
      try {
        load.resolve(name);
        return true;
      } catch {
        return false;
      }
    },
  };
}

function openFilesMax(): number | undefined {
  let limits: string;
  try {
    limits = readFileSync("/proc/self/limits", "utf8");
  } catch {
    return undefined;
  }
  const softLimit = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
  return softLimit === "unlimited" ? Number.POSITIVE_INFINITY : Number(softLimit);
}
