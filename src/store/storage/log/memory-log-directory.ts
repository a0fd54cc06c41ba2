import { invariant } from "../../../base/errors.ts";
import type { LogDirectory, LogFile } from "./log-file.ts";

/** A log directory that lives and dies with the process. */
export function createMemoryLogDirectory(): LogDirectory {
  const files = new Map<string, MemoryFile>();
  return {
    list: () => Array.from(files.keys()).sort(),
    open(name) {
      const file = files.get(name) ?? new MemoryFile();
      files.set(name, file);
      return file;
    },
    remove: (name) => void files.delete(name),
    sync() {},
  };
}

class MemoryFile implements LogFile {
  #bytes = new Uint8Array(0);
  #size = 0;

  size(): number {
    return this.#size;
  }

  read(into: Uint8Array, position: number): number {
    const part = this.#bytes.subarray(position, Math.min(position + into.length, this.#size));
    into.set(part);
    return part.length;
  }

  write(bytes: Uint8Array, position: number): void {
    invariant(position <= this.#size, "a log file must be written without holes");
    const end = position + bytes.length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.#size));
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, position);
    this.#size = Math.max(this.#size, end);
  }

  truncate(size: number): void {
    this.#size = Math.min(this.#size, size);
  }

  sync(): void {}

  close(): void {}
}
