import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, statfsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { NodeError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { assertEngineVersion, COMETBFT_INSTALL } from "./engine-version.ts";
import { endLeftoverEngines } from "./leftover.ts";
import {
  type ExitFault,
  faultOfRecord,
  LastWords,
  LogRelay,
  parseLogRecord,
  type RecordedFault,
  readLines,
} from "./output.ts";

/** How a run of the engine ended. */
export type EngineExit = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly fault: EngineFault | undefined;
  /** The engine's last words, for operators. */
  readonly words?: string | undefined;
};

/** The inputs of the supervisor's decisions. */
export type EngineFault =
  | RecordedFault
  | Exclude<ExitFault, { readonly kind: "panicked" }>
  /** CometBFT could not write: it recovers once the disk has space. */
  | { readonly kind: "diskFull"; readonly text: string };

/** One run of the CometBFT process. */
export type EngineProcess = {
  readonly pid: number | undefined;
  readonly exited: Promise<EngineExit>;
  /** Sends SIGTERM, and SIGKILL if the process has not ended after `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

/** CometBFT's journal and tables take a few megabytes each: with less space, writing one of them fails. */
const FREE_BYTES_MIN = 64 << 20;

/**
 * Starts CometBFT on its home, which is its working directory. It has no terminal and a separate process group: Ctrl-C reaches only the node,
 * which stops CometBFT gracefully.
 * @throws OtherCometBftError
 */
export function startEngineProcess(
  options: {
    readonly binary: string;
    readonly directory: string;
    /** Called with the first fault in the log. */
    readonly onFault: (fault: EngineFault) => void;
  },
  { log, timers }: { readonly log: Logger; readonly timers: Pick<Timers, "after"> },
): EngineProcess {
  const { binary, directory } = options;
  assertEngineVersion(binary);
  endLeftoverEngines(directory, log);
  const child = spawn(binary, ["start", "--home", directory], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    cwd: directory,
  });
  /** The first fault: later ones are its consequences. */
  let fault: EngineFault | undefined;
  const words = new LastWords();
  const relay = new LogRelay(log, () => performance.now());
  readLines(child.stdout, (line) => {
    const record = parseLogRecord(line);
    if (record === undefined) {
      relay.line(line);
      return;
    }
    relay.record(record);
    const found = faultOfRecord(record);
    if (fault !== undefined || found === undefined) return;
    fault = isDiskFull(directory) ? { kind: "diskFull", text: found.text } : found;
    options.onFault(fault);
  });
  readLines(child.stderr, (line) => {
    words.add(line);
    relay.line(line);
  });
  const exited = new Promise<EngineExit>((resolve) => {
    child.once("error", (error) => {
      log.error("CometBFT cannot be started", { binary, error });
      resolve({ code: null, signal: null, fault });
    });
    // "close" follows the last line of output, while "exit" may precede it.
    child.once("close", (code, signal) => {
      fault ??= faultOfExit(words.faultOf(code), directory);
      resolve({ code, signal, fault, words: words.text });
    });
  });
  return {
    pid: child.pid,
    exited,
    stop: (graceMs) => stopChild(child, exited, graceMs, timers),
  };
}

function faultOfExit(fault: ExitFault | undefined, directory: string): EngineFault | undefined {
  if (fault?.kind !== "panicked") return fault;
  return { kind: isDiskFull(directory) ? "diskFull" : "consensusFailure", text: fault.text };
}

/** Measured, because error texts quote peers, and a full disk is the only cause that can pass without a restart. */
function isDiskFull(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize < FREE_BYTES_MIN;
  } catch {
    return false;
  }
}

async function stopChild(
  child: ChildProcess,
  exited: Promise<EngineExit>,
  graceMs: number,
  timers: Pick<Timers, "after">,
): Promise<void> {
  child.kill("SIGTERM");
  const timer = timers.after(graceMs, "end of CometBFT", () => child.kill("SIGKILL"), { keepsAlive: true });
  await exited;
  timer.cancel();
}

/** `cometbft.binary` names no program. */
class CometBftMissingError extends NodeError {
  readonly code = "COMETBFT_MISSING";
  constructor(binary: string) {
    super(`consensus.engine = cometbft needs the program "${binary}" (cometbft.binary): ${COMETBFT_INSTALL}`, {
      binary,
    });
  }
}

/** Path of the program `cometbft.binary`, looked up in PATH unless it contains a slash. @throws CometBftMissingError */
export function findProgram(name: string): string {
  const candidates = name.includes("/")
    ? [resolve(name)]
    : (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, name));
  const found = candidates.find(isProgram);
  if (found === undefined) throw new CometBftMissingError(name);
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
