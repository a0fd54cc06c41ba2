import type { ErrorCode } from "../../../error-codes.ts";
import { NodeError } from "../../../errors.ts";
import { plainData } from "./plain-data.ts";
import type { ErrorData } from "./protocol.ts";

/** A rejection from the other side of a channel: name, code, message, details and cause are those of the original. */
class RemoteRejection extends NodeError {
  readonly code: ErrorCode;
  constructor({ name, message }: ErrorData, rejection: NonNullable<ErrorData["rejection"]>) {
    super(message, rejection.details);
    this.name = name;
    this.code = rejection.code;
  }
}

/** What of `error` crosses a channel. */
export function errorDataOf(error: unknown): ErrorData {
  if (!(error instanceof Error)) {
    return { name: "Error", message: String(error), stack: undefined, cause: undefined };
  }
  const { name, message, stack, cause } = error;
  return {
    ...{ name, message, stack },
    cause: cause === undefined ? undefined : errorDataOf(cause),
    ...(error instanceof NodeError && {
      rejection: {
        code: error.code,
        details: plainData(error.details) as NodeError["details"],
      },
    }),
  };
}

/** The error again: a `NodeError` when it was one. */
export function errorFromData(data: ErrorData): Error {
  const error = data.rejection
    ? new RemoteRejection(data, data.rejection)
    : new Error(data.message);
  error.name = data.name;
  if (data.stack !== undefined) error.stack = data.stack;
  if (data.cause !== undefined) error.cause = errorFromData(data.cause);
  return error;
}
