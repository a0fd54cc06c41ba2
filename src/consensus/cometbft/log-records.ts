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
  /** Consensus stopped for good, and the process lives on without it. */
  | { readonly kind: "consensusFailure"; readonly text: string }
  /** No snapshot of a peer could be restored; the process goes on and does nothing. */
  | { readonly kind: "stateSyncFailed"; readonly text: string };

/** Characters of one field that are worth reading; a peer may send thousands. */
const FIELD_CHARS_MAX = 2_000;
/** Characters of a fault's text, which operators see in `/readyz`. */
export const FAULT_CHARS_MAX = 500;

const LEVELS: ReadonlySet<unknown> = new Set<LogRecordLevel>(["debug", "info", "warn", "error"]);

/**
 * The records of CometBFT v0.40 that are faults: consensus/state.go `receiveRoutine`, node/setup.go `performStateSync`. Their level, module and
 * message are constants of its source. A message alone would not do: evidence/reactor.go logs the text of a peer's evidence as its message.
 */
const FAULTS: readonly {
  readonly kind: RecordedFault["kind"];
  readonly module: string;
  readonly message: string;
}[] = [
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
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return undefined;
  const { level, module, _msg: message, ts: _ts, ...rest } = entry as Record<string, unknown>;
  if (!isLevel(level) || typeof module !== "string" || typeof message !== "string")
    return undefined;
  const fields = Object.entries(rest).map(([name, value]) => [name, fieldOf(value)] as const);
  return {
    level,
    module: module.slice(0, FIELD_CHARS_MAX),
    message: message.slice(0, FIELD_CHARS_MAX),
    fields: Object.fromEntries(fields),
  };
}

/** The fault that `record` is, by level, module and message as a whole. */
export function faultOfRecord(record: LogRecord): RecordedFault | undefined {
  if (record.level !== "error") return undefined;
  const fault = FAULTS.find(
    ({ module, message }) => record.module === module && record.message === message,
  );
  if (fault === undefined) return undefined;
  const { err = fault.message } = record.fields;
  return { kind: fault.kind, text: String(err).slice(0, FAULT_CHARS_MAX) };
}

function isLevel(value: unknown): value is LogRecordLevel {
  return LEVELS.has(value);
}

/** Nested values have no place in our log: they can be deeper than a stack. */
function fieldOf(value: unknown): string | number | boolean {
  if (typeof value === "number" || typeof value === "boolean") return value;
  return typeof value === "string" ? value.slice(0, FIELD_CHARS_MAX) : "…";
}
