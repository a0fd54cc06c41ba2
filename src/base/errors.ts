import { ERROR_CODES, type ErrorClass, type ErrorCode } from "./error-codes.ts";

/**
 * The base of all errors thrown on purpose: a rejection with a stable `code` and typed details. A subclass names one rule; `error-codes.ts` has
 * the JSON-RPC number of each `code` and who must act on it.
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

/** The operating system's codes for disk and memory errors: `ENOSPC`, `EIO`, … */
const SYSTEM_CODES = /^E[A-Z0-9]+$/;

/** Decides who must act on an error; logs, metrics and the JSON-RPC server follow it. */
export function errorClassOf(error: unknown): ErrorClass {
  if (error instanceof NodeError) return ERROR_CODES[error.code].actor;
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" && SYSTEM_CODES.test(code) ? "operator" : "internal";
}

/** A violated invariant: a bug, never the caller's fault. */
export class InvariantError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvariantError";
  }
}

/** @throws InvariantError with `message`, which states the invariant. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
