import type { Readable } from "node:stream";
import { isJsonObject } from "../../../base/primitives/shape.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";

/** The longest line of CometBFT's log that matters has some hundred characters; a peer may make it log what it was sent. */
const LINE_CHARS_MAX = 64 << 10;

/** Calls `onLine` for each line of `stream`; of a longer line than `charsMax` only for its beginning. */
export function readLines(stream: Readable, onLine: (line: string) => void, charsMax = LINE_CHARS_MAX): void {
  let line = "";
  const append = (text: string) => {
    if (line.length < charsMax) line += text.slice(0, charsMax - line.length);
  };
  const end = () => {
    if (line !== "") onLine(line);
    line = "";
  };
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const [first = "", ...lines] = chunk.split("\n");
    append(first);
    for (const next of lines) {
      end();
      append(next);
    }
  });
  stream.on("end", end);
}

/** A line of CometBFT's log. A peer may have chosen every character of `fields`, and of `message` where a module logs an error as its message. */
export type LogRecord = {
  readonly level: LogRecordLevel;
  /** The part of CometBFT that wrote it. */
  readonly module: string;
  readonly message: string;
  /** Everything else, for people: no decision depends on it. */
  readonly fields: Readonly<Record<string, string | number | boolean>>;
};

type LogRecordLevel = "debug" | "info" | "warn" | "error";

/** What CometBFT's log says that the supervisor has to act on. */
export type RecordedFault =
  /** Consensus has stopped, and the process lives on without it. */
  | { readonly kind: "consensusFailure"; readonly text: string }
  /** A block has evidence about one before its store, which begins after a snapshot: it cannot check that, and takes no further block. */
  | { readonly kind: "evidenceBeforeStore"; readonly text: string }
  /** No snapshot of a peer could be restored; the process goes on and does nothing. */
  | { readonly kind: "stateSyncFailed"; readonly text: string };

/** Characters of one field that are worth reading; a peer may send thousands. */
const FIELD_CHARS_MAX = 2_000;
/** Characters of a fault's text, which operators see in `/readyz`. */
const FAULT_CHARS_MAX = 500;

const LEVELS: ReadonlySet<unknown> = new Set<LogRecordLevel>(["debug", "info", "warn", "error"]);

/**
 * The records of CometBFT v0.40 that are faults: consensus/state.go `receiveRoutine`, node/setup.go `performStateSync`. Their level, module and
 * message are constants of its source. A message alone would not do: evidence/reactor.go logs the text of a peer's evidence as its message.
 * Where `err` decides too, it is the whole of an error that evidence/verify.go makes of a block that two thirds of the power have signed.
 */
const FAULTS: readonly {
  readonly kind: RecordedFault["kind"];
  readonly module: string;
  readonly message: string;
  readonly err?: RegExp;
}[] = [
  {
    kind: "evidenceBeforeStore",
    module: "consensus",
    message: "CONSENSUS FAILURE!!!",
    err: /^(?:precommit step; \+2\/3 prevoted for|\+2\/3 committed) an invalid block: don't have header #\d{1,15}$/,
  },
  {
    kind: "evidenceBeforeStore",
    module: "blocksync",
    message: "Error in validation",
    err: /^don't have header #\d{1,15}$/,
  },
  { kind: "consensusFailure", module: "consensus", message: "CONSENSUS FAILURE!!!" },
  ...[
    "State sync failed",
    "Failed to bootstrap node with new state",
    "Failed to store last seen commit",
    "Failed to switch to block sync",
  ].map((message) => ({ kind: "stateSyncFailed", module: "statesync", message }) as const),
];

/** `line` of CometBFT's standard output, which has one JSON object a line; undefined for anything else. */
export function parseLogRecord(line: string): LogRecord | undefined {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isJsonObject(entry)) return undefined;
  const { level, module, _msg: message, ts: _ts, ...rest } = entry as Record<string, unknown>;
  if (!isLevel(level) || typeof module !== "string" || typeof message !== "string") return undefined;
  const fields = Object.entries(rest).map(([name, value]) => [name, fieldOf(value)] as const);
  return {
    level,
    module: module.slice(0, FIELD_CHARS_MAX),
    message: message.slice(0, FIELD_CHARS_MAX),
    fields: Object.fromEntries(fields),
  };
}

/** The fault that `record` is, by level, module and message as a whole. */
export function faultOfRecord({ level, module, message, fields }: LogRecord): RecordedFault | undefined {
  if (level !== "error") return undefined;
  const text = String(fields["err"] ?? message);
  const fault = FAULTS.find(
    (each) => module === each.module && message === each.message && (each.err?.test(text) ?? true),
  );
  return fault && { kind: fault.kind, text: text.slice(0, FAULT_CHARS_MAX) };
}

function isLevel(value: unknown): value is LogRecordLevel {
  return LEVELS.has(value);
}

/** Nested values have no place in our log: they can be deeper than a stack. */
function fieldOf(value: unknown): string | number | boolean {
  if (typeof value === "number" || typeof value === "boolean") return value;
  return typeof value === "string" ? value.slice(0, FIELD_CHARS_MAX) : "…";
}

/** Why a run of CometBFT ended, as far as its exit status and its last words say. */
export type ExitFault =
  /** It says that the application is ahead of its store, which ends at `storeHeight`. */
  | { readonly kind: "applicationAhead"; readonly storeHeight: number }
  /** It has pruned blocks that the application has yet to execute. */
  | {
      readonly kind: "applicationBehind";
      readonly height: number;
      /** The first block that CometBFT has. */
      readonly storeBase: number;
    }
  /** No remote signer connected in the three seconds that it waits for one. */
  | { readonly kind: "signerMissing" }
  /** A Go panic. */
  | { readonly kind: "panicked"; readonly text: string };

/** Exit status of a command of CometBFT that returned an error, and that of a Go program after a panic. */
const STATUS_ERROR = 1;
const STATUS_PANIC = 2;
const ERROR_PREFIX = "ERROR: ";
/** A panic is one line; its goroutines follow. */
const OPENINGS = [ERROR_PREFIX, "panic: ", "fatal error: "];
const WORDS_CHARS_MAX = 2_000;

/** state/errors.go of CometBFT v0.40, as consensus/replay.go, node/setup.go and run_node.go wrap it before any peer is connected. */
const HANDSHAKE = "ERROR: failed to create node: error during handshake: error on replay: app block height";
const AHEAD = new RegExp(`^${HANDSHAKE} \\((\\d{1,15})\\) is higher than core \\((\\d{1,15})\\)$`);
const BEHIND = new RegExp(`^${HANDSHAKE} \\((\\d{1,15})\\) is too far below block store base \\((\\d{1,15})\\)$`);

/** node/setup.go `createAndStartPrivValidatorSocketClient`, before any peer is connected. */
const SIGNER_MISSING =
  "ERROR: failed to create node: error with private validator socket client: can't get pubkey: send: endpoint connection timed out";

/**
 * What CometBFT writes to standard error: nothing while it runs, and the reason when it exits without being stopped. Its log goes to standard output. The
 * reason can quote a peer or a state sync server, line breaks included, so that only an exit with one reason, which is the last line, counts.
 */
export class LastWords {
  #reasons = 0;
  /** The newest line that begins a reason. */
  #reason: string | undefined;
  #isLast = false;

  add(line: string): void {
    if (line.trim() === "") return;
    this.#isLast = OPENINGS.some((opening) => line.startsWith(opening));
    if (!this.#isLast) return;
    this.#reasons++;
    this.#reason = line.slice(0, WORDS_CHARS_MAX);
  }

  /** For the log: undefined where it said nothing. */
  get text(): string | undefined {
    return this.#reason?.slice(0, FAULT_CHARS_MAX);
  }

  faultOf(status: number | null): ExitFault | undefined {
    if (status === STATUS_PANIC) return { kind: "panicked", text: this.text ?? "panic" };
    if (status !== STATUS_ERROR || this.#reasons !== 1 || !this.#isLast) return undefined;
    if (this.#reason === SIGNER_MISSING) return { kind: "signerMissing" };
    const ahead = AHEAD.exec(this.#reason!);
    if (ahead) return { kind: "applicationAhead", storeHeight: Number(ahead[2]) };
    const behind = BEHIND.exec(this.#reason!);
    if (behind === null) return undefined;
    return { kind: "applicationBehind", height: Number(behind[1]), storeBase: Number(behind[2]) };
  }
}

/** Errors of CometBFT that our log has in a window: a peer can cause one with each message, with a stack of some kilobytes. */
const ERRORS_MAX = 20;
const WINDOW_MS = 10_000;
const OUTPUT_CHARS_MAX = 2_000;

/**
 * Errors of CometBFT that a planned restart causes, by their message and the whole of `err`: of a neighbour, whose connections end, and of
 * this node, which closes resources still in use. Each is logged at level info, because no one has to act.
 */
const OF_RESTARTS: readonly { readonly message: string; readonly err?: RegExp }[] = [
  { message: "Stopped accept routine, as transport is closed" },
  {
    message: "Stopping peer for error",
    err: /^(?:EOF|(?:read|write) tcp \S+->\S+: (?:(?:read: |write: )?(?:connection reset by peer|broken pipe)|use of closed network connection))$/,
  },
  { message: "Error stopping pool", err: /^already stopped$/ },
  { message: "Error serving server", err: /^accept \S+ \S+: use of closed network connection$/ },
];

/** CometBFT's output in our log, a level lower: its "info" is one record for each step of consensus. */
export class LogRelay {
  readonly #log: Logger;
  readonly #now: () => number;
  #windowAt = Number.NEGATIVE_INFINITY;
  #errors = 0;

  /** @param now milliseconds of a clock that never jumps */
  constructor(log: Logger, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  record({ level, module, message, fields }: LogRecord): void {
    const text = `CometBFT: ${message}`;
    const data = { ...fields, module };
    if (level !== "error" || !this.#hasRoom()) this.#log.debug(text, data);
    else if (isOfRestart(message, fields)) this.#log.info(text, data);
    else this.#log.warn(text, data);
  }

  /** A line that is not a record. */
  line(line: string): void {
    if (line.trim() === "") return;
    this.#log.debug("CometBFT output", { line: line.slice(0, OUTPUT_CHARS_MAX) });
  }

  /** Counts an error; of the ones beyond the limit only their number is a warning, in the next window. */
  #hasRoom(): boolean {
    const now = this.#now();
    if (now - this.#windowAt >= WINDOW_MS) {
      const left = this.#errors - ERRORS_MAX;
      if (left > 0) this.#log.warn("CometBFT logged more errors: log.level = debug has all", { left });
      this.#windowAt = now;
      this.#errors = 0;
    }
    return ++this.#errors <= ERRORS_MAX;
  }
}

function isOfRestart(message: string, { err }: LogRecord["fields"]): boolean {
  return OF_RESTARTS.some((each) => each.message === message && (each.err?.test(String(err)) ?? true));
}
