import { readFileSync, rmSync } from "node:fs";
import { replaceFile } from "../storage/replace-file.ts";

/** Remembers over a restart that a forward jump stopped block production. */
export type ClockStop = {
  /** The clock, in Unix milliseconds, when blocks were stopped; undefined when they were not. */
  read(): number | undefined;
  write(wallClockMs: number): void;
  clear(): void;
};

/** The stop in the file at `path`, whose folder must exist: Unix milliseconds in decimal. */
export function openClockStopFile(path: string): ClockStop {
  return {
    read() {
      let text: string;
      try {
        text = readFileSync(path, "latin1");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
      // A file that somebody emptied or edited still stops blocks: at any clock.
      const wallClockMs = Number(text);
      return Number.isFinite(wallClockMs) ? wallClockMs : 0;
    },
    write: (wallClockMs) => replaceFile(path, `${Math.floor(wallClockMs)}\n`, 0o600),
    clear: () => rmSync(path, { force: true }),
  };
}
