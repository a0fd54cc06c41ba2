import type { LogDirectory, LogFile } from "../../../../src/store/storage/log/log-file.ts";
import { createMemoryLogDirectory } from "../../../../src/store/storage/log/memory-log-directory.ts";

const SECTOR = 64;

type SimulatedFile = { synced: Uint8Array; isNamed: boolean };

/**
 * A disk in memory that fails when told to, and remembers what was synced: the rest is at its mercy
 * when the power goes.
 */
export function createFaultyDisk() {
  const memory = createMemoryLogDirectory();
  const files = new Map<string, SimulatedFile>();
  let bytesUntilFailure = Infinity;
  let syncFails = false;

  const contents = (file: LogFile): Uint8Array => {
    const bytes = new Uint8Array(file.size());
    file.read(bytes, 0);
    return bytes;
  };

  const open = (name: string): LogFile => {
    const file = memory.open(name);
    if (!files.has(name)) files.set(name, { synced: new Uint8Array(0), isNamed: false });
    return {
      size: () => file.size(),
      read: (into, position) => file.read(into, position),
      write(bytes, position) {
        const fits = bytes.subarray(0, Math.max(0, bytesUntilFailure));
        if (fits.length > 0) file.write(fits, position);
        bytesUntilFailure -= fits.length;
        if (fits.length < bytes.length) throw new Error("no space left");
      },
      truncate: (size) => file.truncate(size),
      sync() {
        if (syncFails) throw new Error("input/output error");
        files.get(name)!.synced = contents(file);
      },
      close() {},
    };
  };

  const directory: LogDirectory = {
    list: () => memory.list(),
    open,
    remove(name) {
      memory.remove(name);
      files.delete(name);
    },
    sync() {
      for (const file of files.values()) file.isNamed = true;
    },
  };

  return {
    directory,
    /** Lets `count` more units of 20 bytes be written, then nothing. */
    failWriteAfter(count: number) {
      bytesUntilFailure = count * 20;
    },
    failSync() {
      syncFails = true;
    },
    heal() {
      bytesUntilFailure = Infinity;
      syncFails = false;
    },
    /**
     * The disk after a power cut: of each sector written since the last sync the old or the new
     * bytes, of what the file grew by some length, of files not yet in a synced directory any or none.
     * @param choose 0 to 255
     */
    powerCut(choose: () => number): LogDirectory {
      const after = createMemoryLogDirectory();
      for (const [name, { synced, isNamed }] of files) {
        if (!isNamed && choose() < 128) continue;
        const now = contents(memory.open(name));
        const grown = Math.max(0, now.length - synced.length);
        const length = synced.length + Math.floor((grown * choose()) / 255);
        const bytes = new Uint8Array(length);
        for (let at = 0; at < length; at += SECTOR) {
          const isWritten = choose() < 170;
          const source = isWritten ? now : synced;
          bytes.set(source.subarray(at, Math.min(at + SECTOR, length)), at);
        }
        after.open(name).write(bytes, 0);
      }
      return after;
    },
  };
}
