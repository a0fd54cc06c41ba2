import { type ChildProcess, spawn } from "node:child_process";
import type { Logger } from "../../telemetry/logger.ts";
import { readLines } from "./log-lines.ts";

/** What ended a run of the engine, as far as its log tells. */
export type EngineExit = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly fault: EngineFault | undefined;
};

/** Lines of CometBFT's log that decide what the supervisor does. */
export type EngineFault =
  /** The application is ahead of CometBFT's store, whose height is given: roll back to it. */
  | { readonly kind: "applicationAhead"; readonly engineHeight: number }
  /** CometBFT has pruned blocks that the application has yet to execute. */
  | {
      readonly kind: "applicationBehind";
      readonly height: number;
      /** The first block that CometBFT has. */
      readonly engineBase: number;
    }
  /** Consensus stopped for good; at first the process goes on, and after a restart it ends with the same panic. */
  | { readonly kind: "consensusFailure"; readonly text: string }
  /** CometBFT could not write: it is well again with space. */
  | { readonly kind: "diskFull"; readonly text: string }
  /** No snapshot of a peer could be restored; the process goes on and does nothing. */
  | { readonly kind: "stateSyncFailed"; readonly text: string }
  /** Blocks are rejected because this machine's clock is behind. */
  | { readonly kind: "clock"; readonly text: string };

/** One run of the CometBFT process. */
export type EngineProcess = {
  readonly pid: number | undefined;
  readonly exited: Promise<EngineExit>;
  /** SIGTERM, and SIGKILL when it has not ended after `graceMs`. */
  stop(graceMs: number): Promise<void>;
  /** The fault seen last; undefined while there is none. */
  fault(): EngineFault | undefined;
};

/** Starts CometBFT on its home. It has no terminal and a process group of its own: Ctrl-C reaches the node, which stops it in order. */
export function startEngineProcess(
  options: {
    readonly binary: string;
    readonly directory: string;
    /** Called once for each fault the log shows. */
    readonly onFault: (fault: EngineFault) => void;
  },
  log: Logger,
): EngineProcess {
  const child = spawn(options.binary, ["start", "--home", options.directory], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let fault: EngineFault | undefined;
  const read = (line: string) => {
    writeLine(line, log);
    const found = faultOf(line);
    if (found === undefined || found.kind === fault?.kind) return;
    fault = found;
    options.onFault(found);
  };
  for (const stream of [child.stdout, child.stderr]) readLines(stream, read);
  const exited = new Promise<EngineExit>((resolve) => {
    child.once("error", (error) => {
      log.error("CometBFT cannot be started", { binary: options.binary, error });
      resolve({ code: null, signal: null, fault });
    });
    // "close" comes after the last line of output, "exit" may come before it.
    child.once("close", (code, signal) => resolve({ code, signal, fault }));
  });
  return {
    pid: child.pid,
    exited,
    fault: () => fault,
    stop: (graceMs) => stopChild(child, exited, graceMs),
  };
}

async function stopChild(
  child: ChildProcess,
  exited: Promise<EngineExit>,
  graceMs: number,
): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
  await exited;
  clearTimeout(timer);
}

/** The text of ENOSPC in Go. */
const NO_SPACE = "no space left on device";

/** What a line of the log says, where it says something the supervisor has to act on. */
export function faultOf(line: string): EngineFault | undefined {
  const ahead = /app block height \((\d+)\) is higher than core \((\d+)\)/.exec(line);
  if (ahead) return { kind: "applicationAhead", engineHeight: Number(ahead[2]) };
  const behind = /app block height \((\d+)\) is too far below block store base \((\d+)\)/.exec(
    line,
  );
  if (behind) {
    const [, height, engineBase] = behind.map(Number) as [number, number, number];
    return { kind: "applicationBehind", height, engineBase };
  }
  if (line.startsWith("panic: ") || line.includes("CONSENSUS FAILURE")) {
    const text = textOf(line);
    return { kind: text.includes(NO_SPACE) ? "diskFull" : "consensusFailure", text };
  }
  if (line.includes("State sync failed")) return { kind: "stateSyncFailed", text: textOf(line) };
  if (/block time.*(?:ahead|future|tolerance)|(?:ahead|future).*block time/i.test(line)) {
    return { kind: "clock", text: textOf(line) };
  }
  return undefined;
}

/** CometBFT's log lines go to our log, a level lower: its "info" is one line for each step of consensus. */
function writeLine(line: string, log: Logger): void {
  const entry = parse(line);
  if (entry === undefined) {
    if (line.trim() !== "") log.debug("CometBFT output", { line: line.slice(0, 2_000) });
    return;
  }
  const { level, _msg: message, ts: _ts, ...data } = entry;
  const text = `CometBFT: ${String(message)}`;
  if (level === "error") log.warn(text, data);
  else log.debug(text, data);
}

function textOf(line: string): string {
  const entry = parse(line);
  if (entry === undefined) return line.slice(0, 500);
  const { err, _msg } = entry;
  return `${String(_msg)}${err === undefined ? "" : `: ${String(err)}`}`.slice(0, 500);
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
