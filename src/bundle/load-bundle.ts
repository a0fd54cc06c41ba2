import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { constants, Script } from "node:vm";
import { crc32 } from "node:zlib";
import type * as Exports from "./exports.ts";

export type Bundle = {
  readonly exports: typeof Exports;
  /**
   * Stores the code that this process has compiled, for later starts; nothing where a stored one was accepted. For the end of
   * a process: functions that have not run yet are not in it. A folder that cannot be written is no error: the next start compiles.
   */
  saveCodeCache(): void;
};

const CHECKSUM_BYTES = 4;

/**
 * Runs the bundle beside this file with V8's code cache, which takes half of the CPU time of a start away. Node's own compile
 * cache exists from Node 22 only and would be in a folder for temporary files. See ADR 45.
 */
export function loadBundle(): Bundle {
  const directory = dirname(fileURLToPath(import.meta.url));
  const filename = join(directory, "evmint.cjs");
  // The bundle has no character outside ASCII except in comments; one byte a character halves its memory.
  const source = readFileSync(filename, "latin1");
  const cachePath = join(directory, `evmint-${process.version}-${process.arch}.cache`);
  // Tells builds apart; a checksum of the source would take longer than what the cache saves in a worker.
  const { size, mtimeMs } = statSync(filename);
  const build = `${size} ${mtimeMs}`;
  const cachedData = readCache(cachePath, build);
  const script = new Script((Module as unknown as ModuleInternals).wrap(source), {
    filename,
    ...(cachedData && { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module = { exports: {} as typeof Exports };
  const run = script.runInThisContext() as ModuleFunction;
  run.call(module.exports, module.exports, createRequire(filename), module, filename, directory);
  return {
    exports: module.exports,
    saveCodeCache() {
      if (cachedData !== undefined && script.cachedDataRejected === false) return;
      writeCache(cachePath, build, script.createCachedData());
    },
  };
}

/** Documented by Node, and missing in its types. */
type ModuleInternals = { wrap(source: string): string };

type ModuleFunction = (
  exports: object,
  require: NodeJS.Require,
  module: { readonly exports: object },
  filename: string,
  directory: string,
) => void;

/** V8 compares its version, its flags and the length of the source, and trusts the rest: a damaged cache would end the process. */
function readCache(path: string, build: string): Buffer | undefined {
  let stored: Buffer;
  try {
    stored = readFileSync(path);
  } catch {
    return undefined;
  }
  const data = stored.subarray(CHECKSUM_BYTES);
  const isWhole = checksumOf(build, data).equals(stored.subarray(0, CHECKSUM_BYTES));
  return isWhole ? data : undefined;
}

function writeCache(path: string, build: string, data: Buffer): void {
  const temporary = `${path}.${process.pid}`;
  try {
    writeFileSync(temporary, Buffer.concat([checksumOf(build, data), data]));
    renameSync(temporary, path);
  } catch {
    // Installed for all users, or a full disk: later starts compile again.
  }
}

/** Against damage alone: users that can write the cache can write the bundle. */
function checksumOf(build: string, data: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(data, crc32(build)));
  return checksum;
}
