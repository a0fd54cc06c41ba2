/**
 * The base of every error thrown on purpose: a rejection with a stable `code` and typed details.
 * A subclass names one rule; `src/rpc/transport/dispatch/error-codes.ts` maps every `code` to its JSON-RPC code.
 */
export abstract class NodeError extends Error {
  abstract readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
    this.details = details;
  }
}

/** Who has to act on an error. */
export type ErrorClass =
  /** The caller: an expected rejection. Answered, not logged. */
  | "caller"
  /** The operator: disk, damaged data, journal, clock, a forked chain that does not answer. Logged and counted. */
  | "operator"
  /** We: a bug. Logged with its stack and counted. */
  | "internal";

/** Families and single codes of failures that only the operator of the node can end. */
const OPERATOR_CODES = /^(?:STORE_|TRIE_|CLOCK_|FORK_REMOTE_|POOL_JOURNAL_WRITE$)/;
/** What the operating system reports about disk and memory: `ENOSPC`, `EIO`, … */
const SYSTEM_CODES = /^E[A-Z0-9]+$/;

/** The one place that decides who an error belongs to; logs, metrics and the JSON-RPC server follow it. */
export function errorClassOf(error: unknown): ErrorClass {
  if (error instanceof NodeError) return OPERATOR_CODES.test(error.code) ? "operator" : "caller";
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" && SYSTEM_CODES.test(code) ? "operator" : "internal";
}

/** An invariant of our own that does not hold: a bug, never the caller's fault. */
export class InvariantError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvariantError";
  }
}

/** @throws InvariantError saying what should have held. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
