import { statSync } from "node:fs";
import type { Timers } from "../../base/telemetry/timers.ts";

/** Interval between checks for changes. */
const CHECK_MS = 1_000;

type WatchedFilesOptions<T> = {
  readonly paths: readonly string[];
  /** Reads the files, any of which may be missing. @throws if they are unusable */
  readonly read: () => T;
  /** Called once when readable files become unreadable. */
  readonly onFault: (error: unknown) => void;
  readonly timers: Pick<Timers, "now">;
};

/** Contents of an operator's files, reloaded within a second of a change. */
export class WatchedFiles<T> {
  readonly #options: WatchedFilesOptions<T>;
  #checkedMs = Number.NEGATIVE_INFINITY;
  #version: string | undefined;
  #value: T | undefined;

  /** @throws what `read` throws */
  constructor(options: WatchedFilesOptions<T>) {
    this.#options = options;
    this.#load();
  }

  /** undefined while the files are unusable; callers then deny everything the files could allow. */
  get value(): T | undefined {
    if (this.#options.timers.now() - this.#checkedMs < CHECK_MS) return this.#value;
    try {
      this.#load();
    } catch (error) {
      if (this.#value !== undefined) this.#options.onFault(error);
      this.#value = undefined;
      this.#version = undefined;
    }
    return this.#value;
  }

  #load(): void {
    const { paths, read, timers } = this.#options;
    this.#checkedMs = timers.now();
    const version = paths.map(versionOfFile).join();
    if (version === this.#version) return;
    this.#value = read();
    this.#version = version;
  }
}

/** A text that differs after each change by an editor, copy or rename. Follows links. */
export function versionOfFile(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? "none" : `${found.ino} ${found.size} ${found.mtimeMs}`;
  } catch (error) {
    // A loop of links, or a folder that this user may not enter: reading the file reports it.
    return String((error as NodeJS.ErrnoException).code);
  }
}
