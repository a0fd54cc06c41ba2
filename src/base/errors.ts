import { ERROR_CODES, type ErrorClass, type ErrorCode } from "./error-codes.ts";

/**
 * The base of every error thrown on purpose: a rejection with a stable `code` and typed details.
 * A subclass names one rule; `error-codes.ts` has the JSON-RPC number of every `code` and who has to act on it.
 */
export abstract class NodeError extends Error {
  abstract readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.name = new.target.name;
    this.details = details;
  }
}

/** What the operating system reports about disk and memory: `ENOSPC`, `EIO`, … */
const SYSTEM_CODES = /^E[A-Z0-9]+$/;

/** The one place that decides who an error belongs to; logs, metrics and the JSON-RPC server follow it. */
export function errorClassOf(error: unknown): ErrorClass {
  if (error instanceof NodeError) return ERROR_CODES[error.code].actor;
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
