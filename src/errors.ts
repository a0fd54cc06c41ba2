/**
 * The base of every error thrown on purpose: a rejection with a stable `code` and typed details.
 * A subclass names one rule; `src/rpc/dispatch/error-codes.ts` maps every `code` to its JSON-RPC code.
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
