import { accessSync, constants, existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { switchOffDeoptimisation } from "../../base/wasm/deoptimisation.ts";
import type * as Exports from "./exports.ts";

export type Bundle = {
  readonly exports: typeof Exports;
  /**
   * Stores the code that this process has compiled, for later starts; does nothing if a stored one was accepted, or the second time. Call it at
   * the end of a process: functions that have not run are not included. A read-only folder is not an error: the next start compiles.
   */
  saveCodeCache(): void;
};

const CHECKSUM_BYTES = 4;

/**
 * Runs the bundle beside this file with V8's code cache, which halves the CPU time of a start. Node's own compile cache requires Node 22 and
 * would be in a folder for temporary files. See ADR 45.
 *
 * @param user gets a separate cache unless the command line has stored one, which covers more functions
 */
export function loadBundle(user?: string): Bundle {
  switchOffDeoptimisation();
  const directory = dirname(fileURLToPath(import.meta.url));
  const filename = join(directory, "evmint.cjs");
  // The bundle contains non-ASCII characters only in comments; one byte per character halves its memory.
  const source = readFileSync(filename, "latin1");
  // V8 accepts code only with the flags it was compiled with, so each set of flags has its own cache.
  const flags = flagsTag();
  const pathOf = (suffix: string) =>
    join(directory, `evmint-${process.version}-${process.arch}-${flags}${suffix}.cache`);
  const common = pathOf("");
  const cachePath = user === undefined || existsSync(common) ? common : pathOf(`-${user}`);
  // Identifies the build; a checksum of the source would take longer than the cache saves in a worker.
  const { size, mtimeMs } = statSync(filename);
  const build = `${size} ${mtimeMs}`;
  const cachedData = readCache(cachePath, build);
  const script = new Script(source, {
    filename,
    ...(cachedData && { cachedData }),
  });
  let isStored = cachedData !== undefined && script.cachedDataRejected === false;
  const module = { exports: {} as typeof Exports };
  const run = script.runInThisContext() as ModuleFunction;
  run.call(module.exports, module.exports, createRequire(filename), module, filename, directory);
  return {
    exports: module.exports,
    saveCodeCache() {
      // Flags that this process changed, for example with debug_setGCPercent, do not apply to the next start.
      if (isStored || flagsTag() !== flags || !isWritable(directory)) return;
      isStored = true;
      writeCache(cachePath, build, script.createCachedData());
    },
  };
}

const flagsTag = () => cachedDataVersionTag().toString(16);

/** The bundle: a CommonJS module with its wrapper. */
type ModuleFunction = (
  exports: object,
  require: NodeJS.Require,
  module: { readonly exports: object },
  filename: string,
  directory: string,
) => void;

/** V8 compares its version, its flags and the length of the source, and trusts the rest: a damaged cache would crash the process. */
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

/** Creating a cache takes about 30 ms, wasted if it cannot be stored. */
function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
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

/** Detects only damage: users who can write the cache can also write the bundle. */
function checksumOf(build: string, data: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(data, crc32(build)));
  return checksum;
}
