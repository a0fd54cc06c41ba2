import { spawnSync } from "node:child_process";
import { readFileSync, statfsSync } from "node:fs";
import { createRequire } from "node:module";
import { totalmem } from "node:os";
import { builtVersion } from "../../consensus/cometbft/process/engine-version.ts";

/** The machine and this installation, as the checks see them; a test brings its own. */
export type System = {
  readonly nodeVersion: string;
  /** Bytes for programs like this one: of the machine, or of its control group. */
  readonly memoryBytes: number;
  /** Files and sockets this process may have open; undefined where the system does not show it. */
  readonly openFilesMax: number | undefined;
  /** Whether a service keeps the clock right; undefined where the system does not show it. */
  readonly isClockSynchronised: boolean | undefined;
  /** The file system that `path` is on. */
  fileSystem(path: string): FileSystem;
  /** Whether an optional package can be loaded. */
  hasPackage(name: string): boolean;
  /** What the CometBFT at `path` says that it is. */
  programVersion(path: string): ProgramVersion;
};

export type FileSystem = {
  /** For this user. */
  readonly freeBytes: number;
  /** Files that can still be made; undefined where the file system sets no limit. */
  readonly freeFiles: number | undefined;
  /** On another machine: NFS or SMB. */
  readonly isRemote: boolean;
};

/** What a program says that it is. */
export type ProgramVersion = {
  /** Version of the Go module it was built from, such as `v0.40.0`; undefined if the file has none. */
  readonly built: string | undefined;
  /** What `cometbft version` prints; undefined where it cannot be run. */
  readonly printed: string | undefined;
};

/** What `statfs` of Linux calls NFS, SMB and CIFS. */
const REMOTE_TYPES: ReadonlySet<number> = new Set([0x6969, 0x517b, 0xfe534d42, 0xff534d42]);
/** `timedatectl` waits for a service that may not answer. */
const ANSWER_TIMEOUT_MS = 2000;

export function thisSystem(): System {
  const load = createRequire(import.meta.url);
  return {
    nodeVersion: process.version,
    memoryBytes: Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()),
    openFilesMax: openFilesMax(),
    isClockSynchronised: isClockSynchronised(),
    fileSystem,
    programVersion,
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

function isClockSynchronised(): boolean | undefined {
  const { stdout } = spawnSync("timedatectl", ["show", "--property=NTPSynchronized", "--value"], {
    encoding: "utf8",
    timeout: ANSWER_TIMEOUT_MS,
  });
  const answer = stdout?.trim();
  return answer === "yes" || answer === "no" ? answer === "yes" : undefined;
}

function fileSystem(path: string): FileSystem {
  const { bavail, bsize, files, ffree, type } = statfsSync(path);
  return {
    freeBytes: bavail * bsize,
    freeFiles: files === 0 ? undefined : ffree,
    isRemote: process.platform === "linux" && REMOTE_TYPES.has(type >>> 0),
  };
}

function programVersion(path: string): ProgramVersion {
  const { stdout, status } = spawnSync(path, ["version"], { encoding: "utf8", timeout: ANSWER_TIMEOUT_MS });
  return { built: builtVersion(path), printed: status === 0 ? stdout.trim().split("\n")[0] : undefined };
}
