import type { ErrorCode } from "../error-codes.ts";
import { invariant, NodeError } from "../errors.ts";

/**
 * `value` ready for a structured clone. Copies a view of a small part of a buffer, because a clone would include the whole buffer.
 * @throws InvariantError for functions and class instances, which a clone would reject or change
 */
export function plainData(value: unknown): unknown {
  if (typeof value !== "object" || value === null) {
    invariant(typeof value !== "function" && typeof value !== "symbol", "a channel carries plain data");
    return value;
  }
  if (value instanceof Uint8Array) {
    return 2 * value.byteLength < value.buffer.byteLength ? Uint8Array.from(value) : value;
  }
  if (Array.isArray(value)) return value.map(plainData);
  if (value instanceof Map) {
    return new Map(Array.from(value, ([key, entry]) => [plainData(key), plainData(entry)]));
  }
  if (value instanceof Set) return new Set(Array.from(value, plainData));
  const prototype: unknown = Object.getPrototypeOf(value);
  invariant(
    prototype === Object.prototype || prototype === null,
    `a channel carries plain data, not ${value.constructor?.name}`,
  );
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) copy[key] = plainData((value as typeof copy)[key]);
  return copy;
}

/** An error without its class, which structured clones do not preserve. */
export type ErrorData = {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: ErrorData | undefined;
  /** Present for a `NodeError`. */
  readonly rejection?: {
    readonly code: ErrorCode;
    readonly details: Readonly<Record<string, unknown>>;
  };
};

/** A rejection from the other side of a channel, with name, code, message, details and cause of the original. */
class RemoteRejection extends NodeError {
  readonly code: ErrorCode;
  constructor({ name, message }: ErrorData, rejection: NonNullable<ErrorData["rejection"]>) {
    super(message, rejection.details);
    this.name = name;
    this.code = rejection.code;
  }
}

/** The data of `error` that crosses a channel. */
export function errorDataOf(error: unknown): ErrorData {
  if (!(error instanceof Error)) {
    return { name: "Error", message: String(error), stack: undefined, cause: undefined };
  }
  const { name, message, stack, cause } = error;
  const data = {
    name,
    message,
    stack,
    cause: cause === undefined ? undefined : errorDataOf(cause),
  };
  if (!(error instanceof NodeError)) return data;
  const details = plainData(error.details) as NodeError["details"];
  return { ...data, rejection: { code: error.code, details } };
}

/** Restores the error: a `NodeError` if it was one. */
export function errorFromData(data: ErrorData): Error {
  const error = data.rejection ? new RemoteRejection(data, data.rejection) : new Error(data.message);
  error.name = data.name;
  if (data.stack !== undefined) error.stack = data.stack;
  if (data.cause !== undefined) error.cause = errorFromData(data.cause);
  return error;
}
