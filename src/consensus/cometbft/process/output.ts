import type { Readable } from "node:stream";
import { isJsonObject } from "../../../base/primitives/shape.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";

/** Relevant lines of CometBFT's log have a few hundred characters; a peer may make it log long input. */
const LINE_CHARS_MAX = 64 << 10;

/** Calls `onLine` for each line of `stream`, cut to `charsMax`. */
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

/** A line of CometBFT's log. A peer may control every character of `fields`, and of `message` if a module logs an error as its message. */
export type LogRecord = {
  readonly level: LogRecordLevel;
  /** The module of CometBFT that wrote it. */
  readonly module: string;
  readonly message: string;
  /** Everything else, for humans: no decision depends on it. */
  readonly fields: Readonly<Record<string, string | number | boolean>>;
};

type LogRecordLevel = "debug" | "info" | "warn" | "error";

/** A fault in CometBFT's log on which the supervisor must act. */
export type RecordedFault =
  /** Consensus has stopped, while the process continues to run; or the state before a block is another one than the validators signed. */
  | { readonly kind: "consensusFailure"; readonly text: string }
  /** A block has evidence about a block before the store's base, which is a snapshot: it cannot be verified, so no further block is accepted. */
  | { readonly kind: "evidenceBeforeStore"; readonly text: string }
  /** No peer's snapshot could be restored; the process runs idle. */
  | { readonly kind: "stateSyncFailed"; readonly text: string };

/** Maximum characters of one field; a peer may send thousands. */
const FIELD_CHARS_MAX = 2_000;
/** Maximum characters of a fault's text, which operators see in `/readyz`. */
const FAULT_CHARS_MAX = 500;

const LEVELS: ReadonlySet<unknown> = new Set<LogRecordLevel>(["debug", "info", "warn", "error"]);

/**
 * The log records of CometBFT v0.40 that are faults: consensus/state.go `receiveRoutine`, node/setup.go `performStateSync`. Their level, module
 * and message are constants of its source. The message alone is not enough: evidence/reactor.go logs the text of a peer's evidence as its
 * message. If `err` decides too, it must be an error of evidence/verify.go or state/validation.go about a block signed by two thirds of the power.
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
  // Block sync would leave each peer for its block, and ask the next one, for ever.
  {
    kind: "consensusFailure",
    module: "blocksync",
    message: "Error in validation",
    err: /^wrong Block\.Header\.\w{1,30}\. {1,2}Expected /,
  },
  ...[
    "State sync failed",
    "Failed to bootstrap node with new state",
    "Failed to store last seen commit",
    "Failed to switch to block sync",
  ].map((message) => ({ kind: "stateSyncFailed", module: "statesync", message }) as const),
];

/** Parses a line of CometBFT's standard output, which is one JSON object; undefined for other text. */
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

/** The fault of `record`, by its level, module and complete message. */
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

/** Drops nested values: they can be deeper than the stack. */
function fieldOf(value: unknown): string | number | boolean {
  if (typeof value === "number" || typeof value === "boolean") return value;
  return typeof value === "string" ? value.slice(0, FIELD_CHARS_MAX) : "…";
}

/** Why a run of CometBFT ended, according to its exit status and last words. */
export type ExitFault =
  /** It reports that the application is ahead of its store, which ends at `storeHeight`. */
  | { readonly kind: "applicationAhead"; readonly storeHeight: number }
  /** It has pruned blocks that the application must still execute. */
  | {
      readonly kind: "applicationBehind";
      readonly height: number;
      /** CometBFT's first block. */
      readonly storeBase: number;
    }
  /** No remote signer connected within CometBFT's wait of three seconds. */
  | { readonly kind: "signerMissing" }
  /** A Go panic. */
  | { readonly kind: "panicked"; readonly text: string };

/** Exit status of a CometBFT command that failed, and of a Go program after a panic. */
const STATUS_ERROR = 1;
const STATUS_PANIC = 2;
const ERROR_PREFIX = "ERROR: ";
/** A panic is one line; its goroutines follow. */
const OPENINGS = [ERROR_PREFIX, "panic: ", "fatal error: "];
const WORDS_CHARS_MAX = 2_000;

/** state/errors.go of CometBFT v0.40, as wrapped by consensus/replay.go, node/setup.go and run_node.go before any peer is connected. */
const HANDSHAKE = "ERROR: failed to create node: error during handshake: error on replay: app block height";
const AHEAD = new RegExp(`^${HANDSHAKE} \\((\\d{1,15})\\) is higher than core \\((\\d{1,15})\\)$`);
const BEHIND = new RegExp(`^${HANDSHAKE} \\((\\d{1,15})\\) is too far below block store base \\((\\d{1,15})\\)$`);

/** node/setup.go `createAndStartPrivValidatorSocketClient`, before any peer is connected. */
const SIGNER_MISSING =
  "ERROR: failed to create node: error with private validator socket client: can't get pubkey: send: endpoint connection timed out";

/**
 * Reads CometBFT's standard error: empty while it runs, and the reason if it exits by itself. Its log goes to standard output. The reason can
 * quote a peer or a state sync server, including line breaks, so only an exit with a single reason on the last line counts.
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

  /** For the log: undefined if it said nothing. */
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

/** Maximum CometBFT errors logged per window: a peer can cause one with each message, each with a stack of a few kilobytes. */
const ERRORS_MAX = 20;
const WINDOW_MS = 10_000;
const OUTPUT_CHARS_MAX = 2_000;

/**
 * Errors that a planned restart causes, by message and complete `err`: those of a neighbour, whose connections end, and of this node, which
 * closes resources in use. They are logged at level info, because nobody must act.
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

/** Relays CometBFT's output to our log, one level lower: its "info" has a record for each step of consensus. */
export class LogRelay {
  readonly #log: Logger;
  readonly #now: () => number;
  #windowAt = Number.NEGATIVE_INFINITY;
  #errors = 0;

  /** @param now monotonic milliseconds */
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

  /** Logs a line that is not a record. */
  line(line: string): void {
    if (line.trim() === "") return;
    this.#log.debug("CometBFT output", { line: line.slice(0, OUTPUT_CHARS_MAX) });
  }

  /** Counts an error; the next window warns only of the number beyond the limit. */
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
