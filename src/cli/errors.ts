import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { NodeError } from "../base/errors.ts";
import { processStat } from "../base/process-stat.ts";
import { escapeControls, escapeControlsInLines } from "../base/telemetry/escape-controls.ts";

/** The command was called in a way it cannot be: exit code 2. */
export class UsageError extends NodeError {
  readonly code = "CLI_USAGE";
}

/** The command was called rightly and could not do its work: exit code 1. */
export class CommandError extends NodeError {
  readonly code = "CLI_FAILED";
}

/** The user stopped it: exit code 130, as a shell reports SIGINT. */
export class InterruptedError extends NodeError {
  readonly code = "CLI_INTERRUPTED";
}

const USAGE_CODES = new Set(["CLI_USAGE", "CONFIG_INVALID", "CONFIG_UNKNOWN_KEY", "CONFIG_UNKNOWN_NAMESPACE"]);

/** 2 for errors of use, 130 after an interruption, 1 for everything else. */
export function exitCodeOf(error: unknown): number {
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && USAGE_CODES.has(code)) return 2;
  return code === "CLI_INTERRUPTED" ? 130 : 1;
}

/** @property setting that has the address which cannot be listened on, where it is not the API's */
type SystemError = NodeJS.ErrnoException & { readonly port?: number; readonly setting?: string };

/** What to do about an error, by its code. */
const HINTS: Readonly<Record<string, (error: SystemError) => string>> = {
  EADDRINUSE: ({ port, setting }) => {
    const owner = port === undefined ? undefined : portOwner(port)?.name;
    const flags = setting === undefined ? "--port or --json-rpc.address" : `--${setting}`;
    return `${owner ?? "another program"} uses that address: stop it, or choose another with ${flags}; port 0 takes any free port`;
  },
  EACCES: ({ syscall }) =>
    syscall === "mkdir"
      ? "this user may not create that folder: create it as root for the node's user (install -d -o USER -m 700 FOLDER)"
      : "this user may not do that",
  ENOSPC: () => "the disk is full",
  ERR_MODULE_NOT_FOUND: () => "the build is incomplete; run npm run build",
  STORE_CORRUPT_LOG: () =>
    "restore data/log/ from a backup; under CometBFT you can also move data/ away, and the node rebuilds its chain from CometBFT's blocks",
  STORE_LOCKED: () =>
    "a node is running on this home: stop it, or choose another --home; the private methods of a running node are on its IPC socket",
};

/** One line for the user, without control characters: a node, a file or another program may have written part of it. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return escapeControls(String(error));
  const hint = HINTS[(error as NodeJS.ErrnoException).code ?? ""]?.(error);
  const message = error.message.split("\n")[0]!;
  return escapeControls(hint === undefined ? message : `${message} (${hint})`);
}

/** An error with its stack, for log level debug. */
export function describeWithStack(error: unknown): string {
  const stack = error instanceof Error ? error.stack : undefined;
  return stack === undefined ? describeError(error) : escapeControlsInLines(stack);
}

/** State of a listening socket in /proc/net/tcp. */
const LISTEN = "0A";

/** A process: its name is `geth (process 4242)`. */
export type PortOwner = { readonly pid: number; readonly name: string };

/** The process that listens on TCP `port`. undefined where the system does not show it: not Linux, or another user's process. */
export function portOwner(port: number): PortOwner | undefined {
  const inodes = new Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap((f) => listeners(f, port)));
  if (inodes.size === 0) return undefined;
  for (const pid of entries("/proc").filter((name) => /^\d+$/.test(name))) {
    for (const descriptor of entries(`/proc/${pid}/fd`)) {
      const target = attempt(() => readlinkSync(`/proc/${pid}/fd/${descriptor}`));
      const inode = /^socket:\[(\d+)\]$/.exec(target ?? "")?.[1];
      if (inode === undefined || !inodes.has(inode)) continue;
      // Not its comm, which is the name of its main thread: Node.js 24 calls it MainThread.
      const program = attempt(() => basename(readlinkSync(`/proc/${pid}/exe`)));
      return { pid: Number(pid), name: `${program ?? "a program"} (process ${pid})` };
    }
  }
  return undefined;
}

/** Whether process `pid` is `ancestor`, or was started by it or by a process that it started. */
export function descendsFrom(pid: number, ancestor: number): boolean {
  for (let each = pid; each > 1; ) {
    if (each === ancestor) return true;
    each = Number(processStat(each)?.[1]);
  }
  return false;
}

/** Inodes of the sockets that listen on `port`, by the columns of /proc/net/tcp. */
function listeners(file: string, port: number): string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  const lines = attempt(() => readFileSync(file, "utf8").split("\n")) ?? [];
  return lines.flatMap((line) => {
    const columns = line.trim().split(/\s+/);
    return columns[1]?.endsWith(`:${wanted}`) && columns[3] === LISTEN ? [columns[9]!] : [];
  });
}

function entries(folder: string): string[] {
  return attempt(() => readdirSync(folder)) ?? [];
}

/** undefined if this user may not read it, or the process has ended. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
