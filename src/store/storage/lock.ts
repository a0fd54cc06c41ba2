import { spawnSync } from "node:child_process";
import { closeSync, constants, ftruncateSync, openSync, readFileSync, readlinkSync, writeSync } from "node:fs";
import { processStat } from "../../base/process-stat.ts";
import { LockedError } from "./lock-error.ts";

export type FileLock = { release(): void };

export type LockOptions = {
  /** False leaves the decision to the process number in the file, as where the system offers no lock. */
  readonly systemLock?: boolean;
};

/** Who holds a lock; enough to tell a living holder from another process with its number. */
type Holder = {
  readonly pid: number;
  /** When it started, in clock ticks since boot; undefined where the system does not tell. */
  readonly startTicks?: string;
  /** Identifies the pid namespace and the boot in which `pid` is valid. */
  readonly world?: string;
};

/** BSD flag of open(2), macOS included: take an exclusive lock with the file. */
const O_EXLOCK = 0x20;
/** What `flock -n -E 75` exits with when somebody else has the lock. */
const HELD_EXIT_CODE = 75;

/**
 * Takes the lock file at `path` for this process. On systems with flock(2) the system holds the lock: it ends with the process, however
 * that dies, and works between containers. The file remains and names the holder. On other systems only its contents decide.
 *
 * @throws LockedError
 */
export function lockFile(path: string, { systemLock = true }: LockOptions = {}): FileLock {
  const fd = open(path, systemLock);
  const outcome = systemLock ? lockDescriptor(fd) : "unavailable";
  const holder = readHolder(path);
  if (outcome === "held" || (outcome === "unavailable" && isAlive(holder))) {
    closeSync(fd);
    throw new LockedError({ path, pid: holder?.pid });
  }
  ftruncateSync(fd, 0);
  try {
    writeSync(fd, JSON.stringify(thisProcess()), 0);
  } catch (error) {
    // On a full disk the system's lock still holds; only the name of its holder is missing.
    if (outcome !== "taken" || (error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
  return {
    release() {
      ftruncateSync(fd, 0);
      closeSync(fd);
    },
  };
}

function open(path: string, systemLock: boolean): number {
  const flags = constants.O_RDWR | constants.O_CREAT;
  if (!systemLock || !hasLockFlag()) return openSync(path, flags, 0o600);
  try {
    return openSync(path, flags | O_EXLOCK | constants.O_NONBLOCK, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    throw new LockedError({ path, pid: readHolder(path)?.pid });
  }
}

/**
 * Node.js does not offer flock(2), so this runs the command flock. The lock belongs to the open file, which parent and child share, so it
 * outlives the child.
 */
function lockDescriptor(fd: number): "taken" | "held" | "unavailable" {
  if (hasLockFlag()) return "taken";
  const { status, error } = spawnSync("flock", ["-n", "-E", String(HELD_EXIT_CODE), "3"], {
    stdio: ["ignore", "ignore", "ignore", fd],
  });
  if (error === undefined && status === 0) return "taken";
  return status === HELD_EXIT_CODE ? "held" : "unavailable";
}

function hasLockFlag(): boolean {
  return process.platform === "darwin" || process.platform === "freebsd";
}

function thisProcess(): Holder {
  const startTicks = startTicksOf(process.pid);
  const world = currentWorld();
  return {
    pid: process.pid,
    ...(startTicks !== undefined && { startTicks }),
    ...(world !== undefined && { world }),
  };
}

function readHolder(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Holder;
  } catch {
    // Empty after a release, or torn when the holder died in the middle of writing it.
    return undefined;
  }
}

/** Number of the living process that holds the lock at `path`; undefined where the system does not tell. */
export function lockHolder(path: string): number | undefined {
  const holder = readHolder(path);
  return holder !== undefined && isRunning(holder) ? holder.pid : undefined;
}

function isAlive(holder: Holder | undefined): boolean {
  // Our own number was another's before: in a container every run may have the same one.
  return holder !== undefined && holder.pid !== process.pid && isRunning(holder);
}

function isRunning(holder: Holder): boolean {
  if (holder.world !== currentWorld()) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  return holder.startTicks === startTicksOf(holder.pid);
}

/** Field 22 of /proc/PID/stat. */
function startTicksOf(pid: number): string | undefined {
  return processStat(pid)?.[19];
}

function currentWorld(): string | undefined {
  const boot = bootId();
  try {
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return boot;
  }
}

/** Identifies this boot of the system; undefined if the system has no such name. */
export function bootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    return undefined;
  }
}
